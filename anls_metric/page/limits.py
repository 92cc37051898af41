"""All limits of the page."""

from __future__ import annotations

MB = 1_000_000

# What is scored in the server; the rest is scored in processes
MAX_CHARACTERS = 10_000  # of answers with their accepted answers; also of a text field
MAX_LISTED = 100  # answers
MAX_ITEMS = 60  # brackets and commas of lists and nested values, whose matching takes cubic time

# A request
MAX_REQUEST = 256 * 1024  # bytes of a body that is no upload
MAX_PAUSE = 30  # seconds between two pieces of a body
MAX_DEPTH = 50  # of lists and objects in a body

# Files
MAX_FILE = 50 * MB  # bytes of a file
MAX_UPLOAD = 100 * MB  # bytes of a request that uploads files
MAX_SUBMISSIONS = 20  # files of one call
MAX_WORST = 100  # worst answers of a submission that an endpoint returns
MAX_REPORT = 6 * MB  # bytes of the texts of a report
MAX_IMAGES = 12 * MB  # bytes of the page images in a report
KEPT_SECONDS = 3_600  # for which an upload or a report is kept
MAX_KEPT = 2_000 * MB  # bytes of all uploads
MAX_COMING = 1_000 * MB  # bytes of the uploads among them that are not yet whole
MAX_WRITTEN = 200 * MB  # bytes of the reports among them that are not yet written

# Processes
SECONDS = 120  # of CPU time for files
SMALL_SECONDS = 20  # of CPU time for answers
MEMORY = 2_000 * MB  # bytes of address space of a process
FIRST_SECONDS = 10  # of CPU time that everybody's work gets first; then it goes behind what has not begun
MAX_SLOW = 32  # answers that wait for a process or have one; more are refused at once
MAX_SLOW_OF_ONE = 8  # of them, of one visitor
MAX_SLOW_AT_ONCE = 2  # of them, that begin at a time; as many go on that take long

# Results
MAX_RESULT = 1 * MB  # bytes of JSON
MAX_TOOL_RESULT = 100_000  # characters of the result of a tool, which gradio reads in the server
MAX_EDITS = 500  # edits, and accepted answers with their similarities, of an answer
MAX_LOG = 10 * MB  # bytes of errors that the server prints

# Calls that run at a time; others wait in gradio's queue
MAX_FILES_AT_ONCE = 4  # calls on files that begin at a time; as many go on that take long
MAX_VISITORS = 64  # who wait for scores of files, or get them
MAX_CALLS = 64  # of endpoints on files: those that wait for a process have a thread
MAX_CALLS_OF_ONE = 16  # of one visitor; more are refused at once
MAX_SILENCE = 20  # seconds after which a call ends if nobody listens for its result
MAX_ANSWERS_AT_ONCE = 64  # quick ones always have a place beside slow ones
MAX_QUEUE = 1_000
