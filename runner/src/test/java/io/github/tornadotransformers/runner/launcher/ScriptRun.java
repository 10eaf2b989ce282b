package io.github.tornadotransformers.runner.launcher;

/** What a process ended with and printed. */
record ScriptRun(int exitCode, String out, String err) {}
