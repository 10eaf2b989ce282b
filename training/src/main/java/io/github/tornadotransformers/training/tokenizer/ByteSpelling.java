package io.github.tornadotransformers.training.tokenizer;

import java.util.List;
import java.util.stream.IntStream;

/**
 * How byte-level tokenizers spell bytes: printable ones of Latin-1 stand for themselves, the others for the characters from
 * U+0100 on, in order. Ids are in the order of these characters, as in GPT-2's vocabulary.
 */
final class ByteSpelling {
    private static final int BYTES = 256;
    private static final int FIRST_SUBSTITUTE = 0x100;
    private static final List<Integer> BYTES_IN_ORDER = IntStream.concat(
                    IntStream.range(0, BYTES).filter(ByteSpelling::isPrintable),
                    IntStream.range(0, BYTES).filter(value -> !isPrintable(value)))
            .boxed()
            .toList();
    private static final List<Integer> ID_OF_BYTE =
            IntStream.range(0, BYTES).mapToObj(BYTES_IN_ORDER::indexOf).toList();
    private static final List<String> ALL = spellings();

    private ByteSpelling() {}

    /** The spelling of every byte, by id. */
    static List<String> all() {
        return ALL;
    }

    static int id(byte value) {
        return ID_OF_BYTE.get(Byte.toUnsignedInt(value));
    }

    private static List<String> spellings() {
        int printable = (int)
                IntStream.range(0, BYTES).filter(ByteSpelling::isPrintable).count();
        return IntStream.range(0, BYTES)
                .map(id -> id < printable ? BYTES_IN_ORDER.get(id) : FIRST_SUBSTITUTE + id - printable)
                .mapToObj(Character::toString)
                .toList();
    }

    private static boolean isPrintable(int value) {
        return value >= '!' && value <= '~' || value >= '¡' && value <= '¬' || value >= '®' && value <= 'ÿ';
    }
}
