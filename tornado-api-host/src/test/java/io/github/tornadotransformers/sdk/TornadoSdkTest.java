package io.github.tornadotransformers.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TornadoSdkTest {
    @TempDir
    private Path folder;

    private Path sdk(String name, String version) throws IOException {
        Path etc = Files.createDirectories(folder.resolve(name).resolve("etc"));
        Files.writeString(etc.resolve("tornado.release"), "version=" + version + "\n");
        Files.writeString(etc.resolve("tornado.backend"), "tornado.backends=opencl-backend, ptx-backend\n");
        return folder.resolve(name);
    }

    @Test
    void theEnvironmentComesBeforeTheUsersFolder() throws IOException {
        Path named = sdk("named", "1");
        sdk(".tornadovm", "2");
        assertThat(TornadoSdk.find(Map.of("TORNADOVM_HOME", named.toString()), folder))
                .contains(new TornadoSdk(named));
    }

    @Test
    void aFolderWithoutAReleaseFileIsNoSdk() throws IOException {
        Path usual = sdk(".tornadovm", "2");
        assertThat(TornadoSdk.find(
                        Map.of("TORNADOVM_HOME", folder.resolve("empty").toString()), folder))
                .contains(new TornadoSdk(usual));
    }

    @Test
    void aReleaseThatIsUnpackedInTheUsersFolderIsFound() throws IOException {
        Path unpacked = sdk(".tornadovm/tornadovm-5.2.0-jdk25-opencl", "2");
        sdk(".sdkman/candidates/tornadovm/current", "3");
        assertThat(TornadoSdk.find(Map.of(), folder)).contains(new TornadoSdk(unpacked));
    }

    @Test
    void sdkmansFolderIsTheLastResort() throws IOException {
        Path sdkman = sdk(".sdkman/candidates/tornadovm/current", "3");
        assertThat(TornadoSdk.find(Map.of(), folder)).contains(new TornadoSdk(sdkman));
    }

    @Test
    void withoutAnyThereIsNone() {
        assertThat(TornadoSdk.find(Map.of(), folder)).isEmpty();
    }

    @Test
    void itKnowsItsVersionAndBackends() throws IOException {
        TornadoSdk sdk = new TornadoSdk(sdk("any", "5.2.0-jdk25"));
        assertThat(sdk.version()).isEqualTo("5.2.0-jdk25");
        assertThat(sdk.backends()).containsExactly("opencl-backend", "ptx-backend");
    }
}
