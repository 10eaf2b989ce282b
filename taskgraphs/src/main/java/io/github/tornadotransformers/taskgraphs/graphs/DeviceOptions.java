package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.taskgraphs.devices.CompileListener;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;

/**
 * How a forward pass runs on a device.
 *
 * @param prefillRows how many tokens of a prompt run at once, at most; 1 for one after the other
 * @param kvType how keys and values are kept
 * @param compiling is told of kernels as they are compiled
 */
public record DeviceOptions(
        DeviceInfo device, MathMode math, GraphMode graph, int prefillRows, KvType kvType, CompileListener compiling) {
    /** Tokens of a prompt at once unless a caller says otherwise: each loaded weight serves as many. */
    public static final int DEFAULT_PREFILL_ROWS = 128;

    public static DeviceOptions of(DeviceInfo device) {
        return new DeviceOptions(
                device, MathMode.STRICT, GraphMode.LAYERED, DEFAULT_PREFILL_ROWS, KvType.F32, CompileListener.NONE);
    }

    public DeviceOptions withMath(MathMode wanted) {
        return new DeviceOptions(device, wanted, graph, prefillRows, kvType, compiling);
    }

    public DeviceOptions withGraph(GraphMode wanted) {
        return new DeviceOptions(device, math, wanted, prefillRows, kvType, compiling);
    }

    public DeviceOptions withPrefillRows(int rows) {
        return new DeviceOptions(device, math, graph, rows, kvType, compiling);
    }

    public DeviceOptions withKvType(KvType wanted) {
        return new DeviceOptions(device, math, graph, prefillRows, wanted, compiling);
    }

    public DeviceOptions withCompileListener(CompileListener listener) {
        return new DeviceOptions(device, math, graph, prefillRows, kvType, listener);
    }
}
