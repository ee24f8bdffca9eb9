/** The little of protocol buffers that the login needs: messages as lists of numbered fields. */

type Value = string | Buffer | bigint | { float: number }

/** Writes a message: texts and bytes with their length, whole numbers as varints. */
export function encode(fields: [field: number, value: Value][]): Buffer {
  return Buffer.concat(fields.flatMap(([field, value]) => parts(BigInt(field), value)))
}

function parts(field: bigint, value: Value): Buffer[] {
  if (typeof value === 'bigint') return [varint(field << 3n), varint(value)]
  if (typeof value === 'string' || Buffer.isBuffer(value)) {
    const bytes = Buffer.from(value)
    return [varint((field << 3n) | 2n), varint(BigInt(bytes.length)), bytes]
  }
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value.float)
  return [varint((field << 3n) | 5n), bytes]
}

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  do {
    const more = rest > 127n ? 128 : 0
    bytes.push(Number(rest & 127n) | more)
    rest >>= 7n
  } while (rest > 0n)
  return Buffer.from(bytes)
}

export type Message = {
  text: (field: number) => string
  bytes: (field: number) => Buffer
  number: (field: number) => bigint
}

/** Reads a message; a field that is absent is empty or 0. Undefined if the bytes are no message. */
export function decode(bytes: Buffer): Message | undefined {
  const fields = new Map<number, Buffer | bigint>()
  let at = 0
  while (at < bytes.length) {
    const tag = readVarint(bytes, at)
    if (!tag) return undefined
    const read = readValue(bytes, tag.next, Number(tag.value & 7n))
    if (!read || read.next > bytes.length) return undefined
    fields.set(Number(tag.value >> 3n), read.value)
    at = read.next
  }
  const bytesOf = (field: number) => {
    const value = fields.get(field)
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
  }
  return {
    text: (field) => bytesOf(field).toString(),
    bytes: bytesOf,
    number(field) {
      const value = fields.get(field)
      return typeof value === 'bigint' ? value : 0n
    },
  }
}

function readVarint(bytes: Buffer, start: number): { value: bigint; next: number } | undefined {
  let value = 0n
  for (let index = 0; index < 10; index += 1) {
    const byte = bytes[start + index]
    if (byte === undefined) return undefined
    value |= BigInt(byte & 127) << BigInt(7 * index)
    if (byte < 128) return { value, next: start + index + 1 }
  }
  return undefined
}

function readValue(
  bytes: Buffer,
  at: number,
  wireType: number,
): { value: Buffer | bigint; next: number } | undefined {
  if (wireType === 0) return readVarint(bytes, at)
  if (wireType === 1 && at + 8 <= bytes.length) return { value: bytes.readBigUInt64LE(at), next: at + 8 }
  if (wireType === 5) return { value: bytes.subarray(at, at + 4), next: at + 4 }
  const length = wireType === 2 ? readVarint(bytes, at) : undefined
  if (!length) return undefined
  const next = length.next + Number(length.value)
  return { value: bytes.subarray(length.next, next), next }
}
