package io.github.tornadotransformers.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.kernels.SignedInts.Place;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;
import uk.ac.manchester.tornado.api.types.arrays.ByteArray;
import uk.ac.manchester.tornado.api.types.arrays.FloatArray;
import uk.ac.manchester.tornado.api.types.arrays.IntArray;
import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/** No kernel shifts, divides or tests the sign of an int that can be negative; and {@link SignedInts} sees it where one does. */
class SignedIntsTest {
    @Test
    void noKernelDependsOnTheSignOfAnInt() throws IOException, URISyntaxException {
        Map<String, Place> places = new LinkedHashMap<>();
        Path folder = Path.of(Slices.class.getResource("Slices.class").toURI()).getParent();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".class")).toList()) {
                places.putAll(places(Files.readAllBytes(file)));
            }
        }
        List<Place> kernels =
                places.values().stream().filter(SignedIntsTest::isKernel).toList();
        assertThat(kernels)
                .extracting(place -> place.method().name)
                .contains("sliceSums", "tileSums", "lookUpTokens", "finishRotated", "gatedMlp", "addToKeys", "descend");
        Set<String> found = new TreeSet<>();
        for (Place kernel : kernels) {
            found.addAll(new SignedInts(places).foundFrom(kernel));
        }
        assertThat(found).isEmpty();
    }

    private static boolean isKernel(Place place) {
        int kernel = Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC;
        return (place.method().access & kernel) == kernel
                && Type.getReturnType(place.method().desc).equals(Type.VOID_TYPE);
    }

    private static Map<String, Place> places(byte[] classFile) {
        ClassNode type = new ClassNode();
        new ClassReader(classFile).accept(type, ClassReader.SKIP_FRAMES);
        Map<String, Place> places = new LinkedHashMap<>();
        for (MethodNode method : type.methods) {
            Place place = new Place(type.name, method);
            places.put(place.key(), place);
        }
        return places;
    }

    /** What would be wrong on one backend or another, and what is not. */
    @SuppressWarnings({"unused", "NarrowCalculation"})
    static final class Samples {
        static void signOfAShort(ShortArray x, FloatArray y) {
            short bits = x.get(0);
            y.set(0, bits < 0 ? bits + 32768 : 1);
        }

        static void quotientOfADifference(IntArray x, FloatArray y) {
            y.set(0, (x.get(0) - 64) / 2);
        }

        static void remainderOfAByte(ByteArray x, FloatArray y) {
            y.set(0, x.get(0) % 4);
        }

        static void shiftOfAConversion(FloatArray x, FloatArray y) {
            y.set(0, (int) x.get(0) >> 1);
        }

        static void addedToAConversion(FloatArray x, FloatArray y) {
            y.set(0, ((int) x.get(0) - -126) / 2);
        }

        static void shiftOfANegation(IntArray x, FloatArray y) {
            y.set(0, -x.get(0) >>> 1);
        }

        static void downTo(FloatArray y) {
            for (int i = 3; i >= 0; i--) {
                y.set(i & 3, 1f);
            }
        }

        static void passesOn(IntArray x, FloatArray y) {
            y.set(0, half(x.get(0) - 1));
        }

        static int half(int x) {
            return x / 2;
        }

        static void takesBack(IntArray x, FloatArray y) {
            y.set(0, before(x.get(0)) / 2);
        }

        static int before(int x) {
            return x - 1;
        }

        static void rounded(IntArray x, FloatArray y) {
            y.set(x.get(0) - 1, (x.get(0) + 128 - 1) / 128);
        }

        static void masked(ShortArray x, FloatArray y, float z) {
            int bits = x.get(0) & 0xFFFF;
            y.set(0, bits / 128 + ((int) z & 0xFF) % 2 + Math.max(bits, -1) / 2);
        }

        static void partsOfAWord(IntArray x, FloatArray y) {
            int[] words = new int[1];
            words[0] = x.get(0);
            y.set(0, ((words[0] >> 16) & 0xFFFF) + ((words[0] >>> 24) & 0xFF) + (short) (words[0] >> 16));
        }

        static void tooMuchOfAWord(IntArray x, FloatArray y) {
            int[] words = new int[1];
            words[0] = x.get(0);
            y.set(0, (words[0] >> 8) & 0xFFFFFF);
        }

        static void differencesCompared(IntArray x, FloatArray y, float z) {
            int rest = x.get(0) - 7 * x.get(1);
            y.set(0, z < 0 && rest == 1 && rest < x.get(2) ? 1 : 0);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "nothing",
            value = {
                "signOfAShort | SignedIntsTest$Samples.signOfAShort: the sign of an int that can be negative",
                "quotientOfADifference | SignedIntsTest$Samples.quotientOfADifference: a quotient of an int that can be negative",
                "remainderOfAByte | SignedIntsTest$Samples.remainderOfAByte: a quotient of an int that can be negative",
                "shiftOfAConversion | SignedIntsTest$Samples.shiftOfAConversion: a shift of an int that can be negative",
                "addedToAConversion | SignedIntsTest$Samples.addedToAConversion: a quotient of an int that can be negative",
                "shiftOfANegation | SignedIntsTest$Samples.shiftOfANegation: a shift of an int that can be negative",
                "downTo | SignedIntsTest$Samples.downTo: the sign of an int that can be negative",
                "passesOn | SignedIntsTest$Samples.half: a quotient of an int that can be negative",
                "takesBack | SignedIntsTest$Samples.takesBack: a quotient of an int that can be negative",
                "tooMuchOfAWord | SignedIntsTest$Samples.tooMuchOfAWord: a shift of an int that can be negative",
                "half | nothing",
                "partsOfAWord | nothing",
                "masked | nothing",
                "rounded | nothing",
                "differencesCompared | nothing",
            })
    void whatIsSeen(String method, String found) throws IOException {
        Map<String, Place> places;
        try (InputStream bytes = Samples.class.getResourceAsStream("SignedIntsTest$Samples.class")) {
            places = places(bytes.readAllBytes());
        }
        Place sample = places.values().stream()
                .filter(place -> place.method().name.equals(method))
                .findFirst()
                .orElseThrow();
        assertThat(new SignedInts(places).foundFrom(sample))
                .map(each -> each.replaceAll(", line \\d+", ""))
                .isEqualTo(found == null ? List.of() : List.of(found));
    }
}
