// What the writers of Paimon and Iceberg make of values: a line of values in, a line of hexadecimal bytes out.
// Run by record_writers.py, which says what is in a line; null is a lone hyphen, texts are hexadecimal too.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.iceberg.PartitionData;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.deletes.Deletes;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.transforms.Transform;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.ByteBuffers;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.BinaryRowWriter;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.deletionvectors.BitmapDeletionVector;
import org.apache.paimon.deletionvectors.DeletionVectorsIndexFile;
import org.apache.paimon.utils.SerializationUtils;

public class WriteDrawn {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] parts = line.split("\t", -1);
            switch (parts[0]) {
                case "row" -> print(writeRow(parts));
                case "bound" -> print(ByteBuffers.toByteArray(
                    Conversions.toByteBuffer(Types.fromPrimitiveString(parts[1]), readIceberg(parts[1], parts[2]))));
                case "wide" -> print(ByteBuffers.toByteArray(
                    Deletes.toPositionIndex(CloseableIterable.withNoopClose(readPositions(parts))).serialize()));
                case "narrow" -> print(writePaimonVector(readPositions(parts)));
                default -> printPartition(parts);
            }
        }
    }

    static void print(byte[] data) {
        System.out.println(HexFormat.of().formatHex(data));
    }

    static byte[] writeRow(String[] parts) throws Exception {
        BinaryRow row = new BinaryRow((parts.length - 1) / 2);
        BinaryRowWriter writer = new BinaryRowWriter(row);
        writer.reset();
        for (int at = 0; 2 * at + 1 < parts.length; at++) {
            writeField(writer, at, parts[2 * at + 1], parts[2 * at + 2]);
        }
        writer.complete();
        return SerializationUtils.serializeBinaryRow(row);
    }

    static void writeField(BinaryRowWriter writer, int at, String kind, String text) {
        boolean isNull = text.equals("-");
        String[] words = kind.split("[(), ]+");
        int precision = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        if (isNull && !(words[0].equals("DECIMAL") && precision > 18) && !(words[0].equals("TIMESTAMP") && precision > 3)) {
            writer.setNullAt(at);
            return;
        }
        switch (words[0]) {
            case "BOOLEAN" -> writer.writeBoolean(at, Boolean.parseBoolean(text));
            case "TINYINT" -> writer.writeByte(at, Byte.parseByte(text));
            case "SMALLINT" -> writer.writeShort(at, Short.parseShort(text));
            case "INT", "DATE", "TIME" -> writer.writeInt(at, Integer.parseInt(text));
            case "BIGINT" -> writer.writeLong(at, Long.parseLong(text));
            case "FLOAT" -> writer.writeFloat(at, Float.parseFloat(text));
            case "DOUBLE" -> writer.writeDouble(at, Double.parseDouble(text));
            case "STRING" -> writer.writeString(at, BinaryString.fromBytes(HexFormat.of().parseHex(text)));
            case "BYTES" -> writer.writeBinary(at, HexFormat.of().parseHex(text));
            case "DECIMAL" -> writer.writeDecimal(
                at,
                isNull ? null : Decimal.fromBigDecimal(new BigDecimal(text), precision, Integer.parseInt(words[2])),
                precision);
            case "TIMESTAMP" -> writer.writeTimestamp(
                at, isNull ? null : Timestamp.fromMicros(Long.parseLong(text)), precision);
            default -> throw new IllegalArgumentException(kind);
        }
    }

    static Object readIceberg(String kind, String text) {
        if (text.equals("-")) {
            return null;
        }
        return switch (kind.split("\\(")[0]) {
            case "boolean" -> Boolean.parseBoolean(text);
            case "int", "date" -> Integer.parseInt(text);
            case "long", "timestamp" -> Long.parseLong(text);
            case "float" -> Float.parseFloat(text);
            case "double" -> Double.parseDouble(text);
            case "decimal" -> new BigDecimal(text);
            case "string" -> new String(HexFormat.of().parseHex(text), StandardCharsets.UTF_8);
            default -> ByteBuffer.wrap(HexFormat.of().parseHex(text));
        };
    }

    static List<Long> readPositions(String[] parts) {
        List<Long> positions = new ArrayList<>();
        for (int at = 1; at < parts.length; at++) {
            positions.add(Long.parseLong(parts[at]));
        }
        return positions;
    }

    static byte[] writePaimonVector(List<Long> positions) throws Exception {
        BitmapDeletionVector vector = new BitmapDeletionVector();
        for (long position : positions) {
            vector.delete(position);
        }
        byte[] data = vector.serializeToBytes();  // its index file puts the length before it, and the checksum after it
        return ByteBuffer.allocate(data.length + 8)
            .putInt(data.length)
            .put(data)
            .putInt(DeletionVectorsIndexFile.calculateChecksum(data))
            .array();
    }

    @SuppressWarnings("unchecked")
    static void printPartition(String[] parts) {
        Type type = Types.fromPrimitiveString(parts[1]);
        Schema schema = new Schema(Types.NestedField.optional(1, "c", type));
        PartitionSpec.Builder builder = PartitionSpec.builderFor(schema);
        int width = parts[2].contains("[") ? Integer.parseInt(parts[2].replaceAll("\\D", "")) : 0;
        PartitionSpec spec = (switch (parts[2].split("\\[")[0]) {
            case "year" -> builder.year("c");
            case "month" -> builder.month("c");
            case "day" -> builder.day("c");
            case "hour" -> builder.hour("c");
            case "truncate" -> builder.truncate("c", width);
            default -> builder.identity("c");
        }).build();
        Transform<Object, Object> transform = (Transform<Object, Object>) spec.fields().get(0).transform();
        Object stored = transform.bind(type).apply(readIceberg(parts[1], parts[3]));
        PartitionData partition = new PartitionData(spec.partitionType());
        partition.set(0, stored);
        String text = stored + "\t" + spec.partitionToPath(partition);
        print(text.getBytes(StandardCharsets.UTF_8));
    }
}
