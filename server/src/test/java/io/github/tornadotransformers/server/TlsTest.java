package io.github.tornadotransformers.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.tornadotransformers.models.InvalidRequest;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** HTTPS by PEM files. */
class TlsTest {
    private static final char[] PASSWORD = "secret".toCharArray();

    @TempDir
    private Path folder;

    private Path certificate;
    private Path key;

    private KeyStore made(String algorithm) throws IOException, InterruptedException, GeneralSecurityException {
        Path file = folder.resolve(algorithm + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "server",
                        "-keyalg",
                        algorithm,
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        new String(PASSWORD))
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(said).isZero();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream stream = Files.newInputStream(file)) {
            store.load(stream, PASSWORD);
        }
        certificate = pem("CERTIFICATE", store.getCertificate("server").getEncoded());
        key = pem("PRIVATE KEY", store.getKey("server", PASSWORD).getEncoded());
        return store;
    }

    private Path pem(String kind, byte[] bytes) throws IOException {
        return Files.writeString(
                folder.resolve(kind.replace(' ', '-') + ".pem"),
                "-----BEGIN " + kind + "-----\n" + Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END " + kind
                        + "-----\n");
    }

    private ServerSettings settings() {
        return ServerSettings.DEFAULT.withPort(0).withTls(certificate, key);
    }

    private Path model;

    @BeforeEach
    void writeModel() throws IOException {
        model = TestServer.model(Files.createDirectory(folder.resolve("model")), 5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"EC", "RSA"})
    void whoTrustsTheCertificateIsAnswered(String algorithm) throws Exception {
        KeyStore store = made(algorithm);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, PASSWORD);
        trusted.setCertificateEntry("server", store.getCertificate("server"));
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        try (ModelServer server = ModelServer.start(settings(), List.of(TestServer.served("small", model)));
                HttpClient knows = HttpClient.newBuilder().sslContext(context).build();
                HttpClient doubts = HttpClient.newHttpClient()) {
            assertThat(server.address().getScheme()).isEqualTo("https");
            HttpRequest request = HttpRequest.newBuilder(server.address().resolve("/v1/models"))
                    .build();
            assertThat(knows.send(request, HttpResponse.BodyHandlers.ofString()).statusCode())
                    .isEqualTo(200);
            assertThatExceptionOfType(SSLHandshakeException.class)
                    .isThrownBy(() -> doubts.send(request, HttpResponse.BodyHandlers.ofString()));
        }
    }

    @Test
    void filesThatAreNoneOfTheseAreNamed() throws Exception {
        made("EC");
        Path right = certificate;
        certificate = key;
        assertRefused(key, "has no certificates in PEM");
        certificate = right;
        key = right;
        assertRefused(right, "has no PRIVATE KEY in PEM");
        key = folder.resolve("nosuch.pem");
        assertRefused(key, "cannot be read");
        key = pem("PRIVATE KEY", new byte[] {1, 2, 3});
        assertRefused(key, "has a key that is neither EC, RSA nor EdDSA");
    }

    private void assertRefused(Path file, String reason) {
        assertThatExceptionOfType(InvalidRequest.class)
                .isThrownBy(() -> ModelServer.start(settings(), List.of(TestServer.served("small", model))))
                .withMessageContaining(file + " " + reason);
    }
}
