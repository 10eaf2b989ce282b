package io.github.tornadotransformers.taskgraphs.memory;

import uk.ac.manchester.tornado.api.KernelContext;

/** The first argument of a kernel that is written for one work item of a group. */
public enum GroupContext implements Argument<KernelContext> {
    CONTEXT;

    @Override
    public KernelContext in(DeviceArrays arrays) {
        return new KernelContext();
    }
}
