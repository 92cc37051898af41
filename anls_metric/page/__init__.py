"""The web app, which serves a page for visitors and endpoints for programs.

* `limits` defines every limit of the web app.
* `processes` runs work in limited processes, `turns` decides when the work begins, and `visitors` finds the caller.
* `typed_answers` scores answers that are typed or sent, and `file_scores` scores files in a process.
* `rows` reads pasted rows.
* `uploads` stores visitors' files, `forms` receives uploads, and `middleware` guards gradio and serves the pages.
* `endpoints` defines what programs and agents call, and `events` defines what the page calls.
* `markup` writes the pages, and `server` serves everything.

`assets/page.js` describes how the page and the report communicate.
"""
