"""The Space: a page, and endpoints for programs.

`limits` holds every limit; `uploads` reads what was uploaded and `scoring` scores it, what is large in a process
`apart`; `visit` makes what a visitor sees, `api` what a program is answered, `errors` what either is told. None of
these needs gradio. `guard` stands before the server, `blocks` and `tools` make gradio's calls and tools for agents fit,
and `server` is the layout and launch.
"""
