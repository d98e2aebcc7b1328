#include "search/byte_codec.h"

#include <algorithm>

namespace mmafuzz {

size_t cases_of_input(const Op& op) {
  if (op.kind != OpKind::gemm) return 256;
  // A case of a matrix product costs more than an engine's own work between two inputs. Few neighbours let an engine
  // learn from every other case.
  constexpr size_t most = 16, least = 2, products = 1024;
  return std::clamp(products / (static_cast<size_t>(op.m) * static_cast<size_t>(op.n) * static_cast<size_t>(op.k)),
                    least, most);
}

size_t encoded_bytes(const Op& op) {
  size_t bytes = engine_header_bytes;
  for (const FieldShape& field : op.inputs())
    bytes += static_cast<size_t>(field.format.storage_bytes()) * static_cast<size_t>(field.count);
  return bytes;
}

EngineInput decode_header(const uint8_t* data, size_t size) {
  EngineInput header;
  if (size > 0) header.op = data[0];
  if (size > 1) header.focus = data[1];
  if (size > 2) header.selector = data[2];
  return header;
}

void decode_operands(const uint8_t* data, size_t size, Batch& batch, size_t index) {
  size_t read = std::min(size, engine_header_bytes);
  const std::vector<FieldShape> fields = batch.op().inputs();
  for (size_t f = 0; f < fields.size(); ++f) {
    Column& column = batch.inputs()[f];
    uint8_t* to = column.data() + index * column.stride();
    const size_t n = std::min(column.stride(), size - read);
    if (n > 0) std::memcpy(to, data + read, n);  // an empty input may have no address
    std::memset(to + n, 0, column.stride() - n);
    read += n;
    const int width = fields[f].format.fields().width;
    if (width == 8 * column.element_bytes()) continue;
    for (int i = 0; i < column.count(); ++i) column.set(index, i, column.get(index, i) & low_mask(width));
  }
}

std::vector<uint8_t> encode_case(const EngineInput& header, const Batch& batch, size_t index) {
  std::vector<uint8_t> bytes = {header.op, header.focus, header.selector};
  for (const Column& column : batch.inputs()) {
    const uint8_t* from = column.data() + index * column.stride();
    bytes.insert(bytes.end(), from, from + column.stride());
  }
  return bytes;
}

}  // namespace mmafuzz
