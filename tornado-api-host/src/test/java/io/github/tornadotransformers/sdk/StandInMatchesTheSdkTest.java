package io.github.tornadotransformers.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import uk.ac.manchester.tornado.api.TaskGraph;

/** Code compiled against the stand-in must link against the SDK: each class and member of the one must be in the other. */
class StandInMatchesTheSdkTest {
    private static final String API = "uk/ac/manchester/tornado/api";

    @Test
    void eachClassAndMemberIsInTheSdk() throws IOException, URISyntaxException {
        Map<String, ApiClass> real = readJar(TornadoSdk.assumed().apiJar());
        Path standInFolder = Path.of(TaskGraph.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        List<ApiClass> standIn =
                read(standInFolder).values().stream().filter(ApiClass::isPublic).toList();
        assertThat(standIn).extracting(ApiClass::name).contains(API + "/TaskGraph");
        SoftAssertions.assertSoftly(softly -> standIn.forEach(type -> compare(softly, type, real.get(type.name()))));
    }

    private static void compare(SoftAssertions softly, ApiClass standIn, ApiClass real) {
        softly.assertThat(real).as("%s in the SDK", standIn.name()).isNotNull();
        if (real == null) {
            return;
        }
        softly.assertThat(standIn.declaration()).isEqualTo(real.declaration());
        softly.assertThat(real.interfaces())
                .as("interfaces of %s", standIn.name())
                .containsAll(standIn.interfaces());
        softly.assertThat(standIn.constants())
                .as("constants of %s", standIn.name())
                .isEqualTo(real.constants());
        softly.assertThat(standIn.isFinal() || !real.isFinal())
                .as("%s is final if the SDK's is", standIn.name())
                .isTrue();
        softly.assertThat(real.members()).as("members of %s", standIn.name()).containsAll(standIn.ownMembers());
    }

    private static Map<String, ApiClass> readJar(Path jar) throws IOException {
        try (FileSystem files = FileSystems.newFileSystem(jar)) {
            return read(files.getPath("/"));
        }
    }

    private static Map<String, ApiClass> read(Path root) throws IOException {
        Map<String, ApiClass> classes = new HashMap<>();
        try (Stream<Path> files = Files.walk(root.resolve(API))) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".class")).toList()) {
                ApiClass read = new ApiClass(ClassFile.of().parse(Files.readAllBytes(file)), classes);
                classes.put(read.name(), read);
            }
        }
        return classes;
    }
}
