package io.github.tornadotransformers.taskgraphs.devices;

/** Is told of kernels that are compiled for a device, which takes a second each and happens when they first run. */
public interface CompileListener {
    /** Tells nobody. */
    CompileListener NONE = new CompileListener() {
        @Override
        public void compiling(int done, int all) {}

        @Override
        public void compiled() {}
    };

    /**
     * More kernels are compiled now.
     *
     * @param done kernels compiled before
     * @param all that there are; some may never be needed
     */
    void compiling(int done, int all);

    /** They have been compiled, or have failed to. */
    void compiled();
}
