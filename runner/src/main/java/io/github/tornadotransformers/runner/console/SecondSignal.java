package io.github.tornadotransformers.runner.console;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;

/**
 * While the JVM ends it ignores signals: this makes a second one end the process at once. The JDK tells of signals through
 * {@code sun.misc.Signal} alone, of which javac warns wherever it stands; so it is called by name.
 */
final class SecondSignal {
    /** The JVM ends with 128 and the signal's number. */
    private static final int SIGNALLED = 128;

    private static final List<String> ENDING = List.of("INT", "TERM");

    private SecondSignal() {}

    static void endsTheProcess() {
        for (String name : ENDING) {
            try {
                Class<?> signal = Class.forName("sun.misc.Signal");
                Class<?> handler = Class.forName("sun.misc.SignalHandler");
                Method number = signal.getMethod("getNumber");
                Object halting = Proxy.newProxyInstance(
                        SecondSignal.class.getClassLoader(), new Class<?>[] {handler}, (_, _, arguments) -> {
                            Runtime.getRuntime().halt(SIGNALLED + (Integer) number.invoke(arguments[0]));
                            return null;
                        });
                signal.getMethod("handle", signal, handler)
                        .invoke(null, signal.getConstructor(String.class).newInstance(name), halting);
            } catch (ReflectiveOperationException e) {
                // The signal is the system's own or ignored here: a second one will be, too.
            }
        }
    }
}
