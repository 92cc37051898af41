"""The Space: a page, and endpoints for programs.

`limits` holds every limit. `inputs` checks what was asked for, `uploads` keeps and reads what was uploaded, `inventory`
finds out which file is which and names the submissions, and `upload_scoring` scores them. `views` and `summary` make
what a visitor sees, and `endpoints` are what a program may ask for. All of these work in `subprocesses`, which
`fork_server` makes fast. `calls` is the way to the endpoints, `messages` says what went wrong and which command does
the same, and `advice` is what a button beside a message changes. None of these needs gradio. `middleware` stands before
the server and counts the `bodies` of requests, `mcp_tools` are the endpoints for agents, `file_tab` is the tab of
files, and `server` is the rest of the layout and the launch. `assets/page.js` says how page and report talk to each
other.
"""
