package io.github.tornadotransformers.runner.engines;

import io.github.tornadotransformers.runner.console.StatusLine;
import io.github.tornadotransformers.taskgraphs.devices.CompileListener;

/** Shows how many kernels have been compiled for a device while more are. */
public record CompileStatus(StatusLine line) implements CompileListener {
    @Override
    public void compiling(int done, int all) {
        line.hold("compiling kernels for the device: " + done + " of " + all);
    }

    @Override
    public void compiled() {
        line.clear();
    }
}
