package io.github.tornadotransformers.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.sdk.TornadoSdk;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class EmulatorAgreesWithTornadoVmTest {

    @Test
    void legalProgramsGiveTheSameResults() throws Exception {
        TornadoSdk sdk = TornadoSdk.assumedWithDevice();
        String device = TornadoSdk.output(sdk.launch(
                List.of("-Dtornado.recover.bailout=False"),
                List.of(folder(LegalPrograms.class), folder(Emulator.class)),
                LegalPrograms.class.getName(),
                List.of()));
        assertThat(results(device)).as(device).isEqualTo(results(emulated()));
    }

    private static String emulated() {
        var bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        Emulator.run(new EmulatedDevice(), () -> LegalPrograms.runAll(out));
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static List<String> results(String output) {
        return output.lines()
                .filter(line -> line.startsWith(LegalPrograms.MARK))
                .toList();
    }

    private static Path folder(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
