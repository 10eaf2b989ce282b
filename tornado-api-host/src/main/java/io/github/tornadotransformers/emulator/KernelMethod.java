package io.github.tornadotransformers.emulator;

import java.lang.foreign.Arena;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import uk.ac.manchester.tornado.api.TaskGraph;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.DoubleArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.HalfFloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;
import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/** The static method behind a task. A reference to a method does not tell its name, but a failure inside does. */
record KernelMethod(Class<?> owner, String name, int parameters) {

    /** Empty where the method touches no array. */
    static Optional<KernelMethod> of(RecordedTask task) {
        try {
            task.body().run(KernelMethod::untouchable);
            return Optional.empty();
        } catch (RuntimeException touched) {
            List<StackTraceElement> frames = Arrays.asList(touched.getStackTrace());
            int caller = 0;
            while (!frames.get(caller).getClassName().equals(TaskGraph.class.getName())) {
                caller++;
            }
            StackTraceElement frame = frames.get(caller - 1);
            try {
                Class<?> owner = Class.forName(frame.getClassName());
                return Optional.of(new KernelMethod(
                        owner, frame.getMethodName(), task.arguments().size()));
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** An array of the same type and size whose first use fails. */
    @SuppressWarnings("unchecked")
    private static <T> T untouchable(T argument) {
        if (!(argument instanceof TornadoNativeArray array)) {
            return argument;
        }
        try (Arena arena = Arena.ofConfined()) {
            var memory = arena.allocate(array.getNumBytesOfSegmentWithHeader(), Long.BYTES);
            return (T)
                    switch (array) {
                        case ByteArray _ -> ByteArray.fromSegmentShallow(memory);
                        case ShortArray _ -> ShortArray.fromSegmentShallow(memory);
                        case HalfFloatArray _ -> HalfFloatArray.fromSegmentShallow(memory);
                        case IntArray _ -> IntArray.fromSegmentShallow(memory);
                        case FloatArray _ -> FloatArray.fromSegmentShallow(memory);
                        case DoubleArray _ -> DoubleArray.fromSegmentShallow(memory);
                    };
        }
    }

    /** Runs the method as {@code loader} rewrote it. */
    void run(KernelLoader loader, Object... arguments) {
        try {
            Method method = Arrays.stream(loader.loadClass(owner.getName()).getDeclaredMethods())
                    .filter(each -> each.getName().equals(name) && each.getParameterCount() == parameters)
                    .findFirst()
                    .orElseThrow();
            method.setAccessible(true);
            method.invoke(null, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
