package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * TornadoVM compiles a method that is given an array in local memory as if the array lay on a heap, behind a header: it writes elsewhere
 * than its caller reads. What is plain Java on the emulator would be wrong on every device.
 */
class LocalArraysTest {
    @Test
    void noMethodIsGivenAnArray() throws IOException, URISyntaxException {
        Path folder = Path.of(Slices.class.getResource("Slices.class").toURI()).getParent();
        Set<String> methods = new TreeSet<>();
        Set<String> givenArrays = new TreeSet<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".class")).toList()) {
                ClassNode type = new ClassNode();
                new ClassReader(Files.readAllBytes(file)).accept(type, ClassReader.SKIP_CODE);
                for (MethodNode method : type.methods) {
                    methods.add(type.name + "." + method.name);
                    if (Stream.of(Type.getArgumentTypes(method.desc))
                            .anyMatch(argument -> argument.getSort() == Type.ARRAY)) {
                        givenArrays.add(type.name + "." + method.name);
                    }
                }
            }
        }
        assertThat(methods).contains(Type.getInternalName(LinearRowKernels.class) + ".product");
        assertThat(givenArrays).isEmpty();
    }
}
