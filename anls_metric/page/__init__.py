"""The Space: a page for visitors, and endpoints for programs.

These modules do not need gradio:

* `limits`: every limit of the page;
* `inputs`: checks arguments; `uploads`: stores and reads uploads; `inventory`: finds out which file is which;
* `upload_scoring`: scores uploads; `views` and `summary`: make the HTML for visitors; `endpoints`: answer programs;
* `subprocesses`: runs the work of these modules in processes, which `fork_server` starts fast;
* `calls`: passes the calls of programs to the endpoints;
* `messages`: words errors, and the command that does the same; `advice`: the buttons beside messages.

These make the server: `middleware` checks requests and reads their `bodies`, `mcp_tools` offers the endpoints to
agents, `file_tab` is the tab for files, and `server` has the rest of the layout and the launch. `assets/page.js`
describes how page and report talk to each other.
"""
