package io.github.tornadotransformers.emulator;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.MethodModel;
import java.security.CodeSource;
import java.util.Objects;

/**
 * Loads kernels a second time, rewritten: their parallel loop takes its items in an order of the emulator's choice, and, where
 * asked for, each access to an array is logged. What they call in classes of their own is rewritten with them.
 */
final class KernelLoader extends ClassLoader {
    private static final KernelLoader LOGGING = new KernelLoader(true);
    private static final KernelLoader SILENT = new KernelLoader(false);

    private final boolean logs;

    private KernelLoader(boolean logs) {
        super(KernelLoader.class.getClassLoader());
        this.logs = logs;
    }

    static KernelLoader of(boolean logs) {
        return logs ? LOGGING : SILENT;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded == null) {
                Class<?> original = getParent().loadClass(name);
                loaded = isKernels(original) ? rewritten(original) : original;
            }
            return loaded;
        }
    }

    /** Whatever is neither the JDK's nor the stand-in's and the emulator's own. */
    private static boolean isKernels(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        CodeSource own = KernelLoader.class.getProtectionDomain().getCodeSource();
        return source != null && !Objects.equals(source, own);
    }

    private Class<?> rewritten(Class<?> original) {
        ClassFile classFile = ClassFile.of();
        ClassModel model = classFile.parse(bytes(original));
        ClassTransform transform = (builder, element) -> {
            if (element instanceof MethodModel method && method.code().isPresent()) {
                builder.transformMethod(method, KernelTransform.of(method.code().get(), logs));
            } else {
                builder.with(element);
            }
        };
        byte[] bytes = classFile.transformClass(model, transform);
        return defineClass(original.getName(), bytes, 0, bytes.length, original.getProtectionDomain());
    }

    private static byte[] bytes(Class<?> type) {
        String file = type.getName().substring(type.getName().lastIndexOf('.') + 1) + ".class";
        try (InputStream stream = type.getResourceAsStream(file)) {
            return stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
