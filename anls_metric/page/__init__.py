"""The Space: a page for visitors, and endpoints for programs.

* `limits`: every limit of the page;
* `processes`: runs work in processes limited by the system; `turns`: when they begin; `visitors`: who is calling;
* `typed_answers`: scores answers that are typed or sent; `file_scores`: scores files, in a process;
* `rows`: reads pasted rows;
* `uploads`: visitors' files; `forms`: receives them; `middleware`: guards gradio and serves the pages;
* `endpoints`: what programs and agents call; `events`: what the page calls; `markup`: the pages; `server`: serves all.

`assets/page.js` describes how the page and the report communicate.
"""
