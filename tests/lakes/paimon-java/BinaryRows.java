import java.util.LinkedHashMap;
import java.util.Map;

/** Placeholder until the codec examples are written. */
final class BinaryRows {
    private BinaryRows() {}

    static Map<String, Object> all() {
        return new LinkedHashMap<>();
    }
}
