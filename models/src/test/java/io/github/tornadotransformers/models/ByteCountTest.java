package io.github.tornadotransformers.models;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ByteCountTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0 bytes, 0 bytes",
        "1, 1 byte, 1 byte",
        "999, 999 bytes, 999 bytes",
        "1000, 1.0 kB, 1000 bytes",
        "1024, 1.0 kB, 1.0 KiB",
        "999949, 999.9 kB, 976.5 KiB",
        "999950, 1.0 MB, 976.5 KiB",
        "548105171, 548.1 MB, 522.7 MiB",
        "1073741823, 1.1 GB, 1.0 GiB",
        "13000000000, 13.0 GB, 12.1 GiB",
        "9223372036854775807, 9.2 EB, 8.0 EiB"
    })
    void unitSuitsTheSize(long bytes, String decimal, String binary) {
        assertThat(ByteCount.words(bytes)).isEqualTo(decimal);
        assertThat(ByteCount.binaryWords(bytes)).isEqualTo(binary);
    }
}
