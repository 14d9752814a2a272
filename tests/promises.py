"""What must be true of a notebook, in words. A test that proves one counts its cases with the fixture `tally`."""

PROMISES = {
    "R1": "a call that returned is on the disk, whole",
    "R2": "a kill at any system call leaves old or new, never half",
    "R3": "a power cut loses nothing acknowledged",
    "R4": "a full, failing or read-only disk is a clear refusal",
    "R5": "readers never wait and never see half a note",
    "R6": "the index equals the files",
    "R7": "no update is lost between processes",
    "R8": "no name silently overwrites another fact",
    "R9": "nothing outside the notebook is read or changed",
    "R10": "a note cannot change the structure around it",
    "R11": "what people leave in the directory is tolerated, reported and untouched",
    "R12": "limits always hold",
    "R13": "every call is bounded in time and memory",
    "R14": "everything can be undone",
    "R17": "nobody's word is raised, and text from outside is not kept unreviewed",
    "R19": "a terminal shows text, not commands",
    "R23": "no call of a tool has an effect outside its role",
    "R27": "files are private under any umask",
    "R28": "notebooks of every format version open",
}
