package uk.ac.manchester.tornado.api.enums;

/** What the profiler does with what it measures: print it, or keep it for the execution's result. */
public enum ProfilerMode {
    CONSOLE,
    SILENT
}
