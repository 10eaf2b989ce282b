package io.github.tornadotransformers.emulator;

/** Calls a task's method with the device's copies of the arrays it was added with. */
@FunctionalInterface
public interface TaskBody {
    void run(DeviceCopies on);
}
