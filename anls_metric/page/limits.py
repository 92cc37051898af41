"""All limits of the web app."""

from __future__ import annotations

MB = 1_000_000

# What is scored in the server; everything else is scored in processes
MAX_CHARACTERS = 10_000  # in answers with their references; also in a text field
MAX_LISTED = 100  # answers
MAX_ITEMS = 60  # brackets and commas in lists and nested values, whose matching takes cubic time

# A request
MAX_REQUEST = 256 * 1024  # bytes in a body that is not an upload
MAX_PAUSE = 30  # seconds between two pieces of a body
MAX_DEPTH = 50  # of lists and objects in a body

# Files
MAX_FILE = 50 * MB  # bytes of a file
MAX_UPLOAD = 100 * MB  # bytes of a request that uploads files
MAX_SUBMISSIONS = 20  # files in one call
MAX_WORST = 100  # worst answers of a submission that an endpoint returns
MAX_REPORT = 6 * MB  # bytes of the text in a report
MAX_IMAGES = 12 * MB  # bytes of the page images in a report
KEPT_SECONDS = 3_600  # for which an upload or a report is kept
MAX_KEPT = 2_000 * MB  # bytes of all uploads
MAX_COMING = 1_000 * MB  # bytes of those uploads that are not yet complete
MAX_WRITTEN = 200 * MB  # bytes of those reports that are not yet written

# Processes
SECONDS = 120  # of CPU time for files
SMALL_SECONDS = 20  # of CPU time for answers
MEMORY = 2_000 * MB  # bytes of address space of a process
FIRST_SECONDS = 10  # of CPU time that everyone's work gets first, before it goes behind work that has not begun
MAX_SLOW = 32  # answers that are waiting for a process or have one; more are rejected at once
MAX_SLOW_OF_ONE = 8  # of these, from one visitor
MAX_SLOW_AT_ONCE = 2  # of these, how many may begin at a time, and how many that take long may continue

# Results
MAX_RESULT = 1 * MB  # bytes of JSON
MAX_TOOL_RESULT = 100_000  # characters in the result of a tool, which gradio reads in the server
MAX_EDITS = 500  # edits of an answer, and references with their similarities
MAX_LOG = 10 * MB  # bytes of errors that the server prints

# Calls that run at a time; others wait in gradio's queue
MAX_FILES_AT_ONCE = 4  # calls on files that may begin at a time; as many that take long may continue
MAX_VISITORS = 64  # who are waiting for scores of files or receiving them
MAX_CALLS = 64  # to endpoints for files; a call that waits for a process occupies a thread
MAX_CALLS_OF_ONE = 16  # from one visitor; more are rejected at once
MAX_SILENCE = 20  # seconds after which a call ends if nobody listens for its result
MAX_ANSWERS_AT_ONCE = 64  # quick ones always find a place alongside slow ones
MAX_QUEUE = 1_000
