package uk.ac.manchester.tornado.api.runtime;

import io.github.tornadotransformers.emulator.EmulatedRuntime;
import uk.ac.manchester.tornado.api.TornadoRuntime;

/** The door to backends and devices. */
public class TornadoRuntimeProvider {

    public static TornadoRuntime getTornadoRuntime() {
        return EmulatedRuntime.current();
    }
}
