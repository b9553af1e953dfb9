"""A `yosys` command line on the Python wheel of Yosys, which has no program of its own.

Understands -V, -Q, -T, -q, -l FILE, -L FILE, -p COMMANDS, -s SCRIPT, -S and files: what our
commands and SymbiYosys use. A `.ys` file is a script.
"""

import os
import sys


def parse(arguments):
    """Returns (quiet, log, [command, ...]) of a command line."""
    quiet, log, commands = False, None, []
    arguments = list(arguments)
    while arguments:
        argument = arguments.pop(0)
        if argument in ("-V", "--version"):
            return quiet, log, ["version"]
        if not argument.startswith("-") or argument.startswith("--") or len(argument) == 1:
            if argument.endswith(".ys"):
                commands.append(f"script {argument}")
            elif argument.endswith((".v", ".sv")):
                commands.append(f"read_slang --threads 1 {argument}")
            else:
                commands.append(f"read_rtlil {argument}")
            continue
        for place, letter in enumerate(argument[1:], start=2):
            if letter == "q":
                quiet = True
            elif letter in "lLpsfo":
                value = argument[place:] or (arguments.pop(0) if arguments else None)
                if value is None:
                    sys.exit(f"yosys.py: -{letter} wants a value")
                if letter in "lL":
                    log = value
                elif letter == "p":
                    commands += [line for line in value.split("\n") if line.strip()]
                elif letter == "s":
                    commands.append(f"script {value}")
                break
            elif letter not in "QTtdgvLHhS":
                sys.exit(f"yosys.py: unknown option -{letter}")
    return quiet, log, commands


def main():
    quiet, log, commands = parse(sys.argv[1:])
    if quiet or log:
        # Errors still go to standard error; the log is what Yosys prints otherwise.
        target = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(target, 1)
    from pyosys import libyosys

    design = libyosys.Design()
    for command in commands:
        libyosys.run_pass(command, design)


main()
