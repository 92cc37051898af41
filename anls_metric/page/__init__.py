"""The Space: a page for visitors, and endpoints for programs.

* `limits`: every limit of the page;
* `processes`: runs work in processes that the system limits; `turns`: when they begin; `visitors`: who calls;
* `answers`: scores answers that are typed or sent; `scoring`: scores files, in a process;
* `uploads`: the files of visitors; `middleware`: guards gradio;
* `endpoints`: what programs and agents call; `file_tab` and `server`: the page in gradio.

`assets/page.js` describes how page and report talk to each other.
"""
