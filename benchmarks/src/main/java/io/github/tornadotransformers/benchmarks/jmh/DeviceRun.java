package io.github.tornadotransformers.benchmarks.jmh;

import io.github.tornadotransformers.benchmarks.OpCase;
import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.engine.Engines;
import io.github.tornadotransformers.taskgraphs.devices.DeviceInfo;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceOp;
import io.github.tornadotransformers.taskgraphs.graphs.DeviceOptions;

/** An Op on a device, as a graph of its own: a run is one execution of it, from the host's call to its return. */
record DeviceRun(OpCase op, String engine, DeviceOp device) implements Subject {
    static DeviceRun open(Case of) {
        return open(of, Engines.device(EngineSettings.of(of.engine().engine().orElseThrow())));
    }

    static DeviceRun open(Case of, DeviceInfo device) {
        OpCase op = OpRun.cases(of.model()).open(OpRun.key(of));
        return new DeviceRun(op, of.engine().toString(), op.openOn(DeviceOptions.of(device)));
    }

    @Override
    public void requireRight() {
        op.requireRight(engine, device);
    }

    @Override
    public void run() {
        device.run();
    }

    @Override
    public void close() {
        device.close();
        op.close();
    }
}
