package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No kernel and nothing that a kernel calls computes in double: many devices have none. */
class WithoutDoubleTest {
    @Test
    void noInstructionIsOfDouble() throws IOException, ReflectiveOperationException {
        Path classes = Path.of(
                Fused.class.getProtectionDomain().getCodeSource().getLocation().getPath());
        try (Stream<Path> files = Files.walk(classes)) {
            List<Path> found =
                    files.filter(file -> file.toString().endsWith(".class")).toList();
            assertThat(found).hasSizeGreaterThan(10);
            for (Path file : found) {
                assertThat(doubles(ClassFile.of().parse(file))).isEmpty();
            }
        }
    }

    /** Else an empty answer would say nothing. */
    @Test
    void oneIsSeen() throws IOException {
        try (var bytes = WithoutDoubleTest.class.getResourceAsStream("WithoutDoubleTest.class")) {
            assertThat(doubles(ClassFile.of().parse(bytes.readAllBytes()))).anyMatch(line -> line.contains("halved"));
        }
    }

    static double halved(double x) {
        return x / 2;
    }

    private static List<String> doubles(ClassModel model) {
        return model.methods().stream()
                .flatMap(method -> method.code().stream()
                        .flatMap(code -> code.elementStream())
                        .filter(Instruction.class::isInstance)
                        .map(Instruction.class::cast)
                        .filter(WithoutDoubleTest::isOfDouble)
                        .map(instruction -> where(model, method) + ": " + instruction.opcode()))
                .toList();
    }

    private static boolean isOfDouble(Instruction instruction) {
        String name = instruction.opcode().name();
        return name.matches("D(ADD|SUB|MUL|DIV|REM|NEG|CMP.*|CONST.*|LOAD.*|STORE.*|2.*|ALOAD|ASTORE|RETURN)")
                || name.endsWith("2D");
    }

    private static String where(ClassModel model, MethodModel method) {
        return model.thisClass().asInternalName() + "." + method.methodName().stringValue();
    }
}
