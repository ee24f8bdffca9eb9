/** Reads and writes login messages in protocol buffers, as lists of numbered fields. */
import protobuf from 'protobufjs/minimal.js'

type Value = string | Buffer | bigint | { float: number }

// The wire types of protocol buffers.
const VARINT = 0
const FIXED_64 = 1
const LENGTH = 2
const FIXED_32 = 5

export function encode(fields: [field: number, value: Value][]): Buffer {
  const writer = protobuf.Writer.create()
  for (const [field, value] of fields) {
    const tag = (wireType: number) => writer.uint32((field << 3) | wireType)
    if (typeof value === 'bigint') tag(VARINT).uint64(String(value))
    else if (typeof value === 'string') tag(LENGTH).string(value)
    else if (Buffer.isBuffer(value)) tag(LENGTH).bytes(value)
    else tag(FIXED_32).float(value.float)
  }
  return Buffer.from(writer.finish())
}

export type Message = {
  text: (field: number) => string
  bytes: (field: number) => Buffer
  number: (field: number) => bigint
}

/** An absent field reads as empty or 0. Returns undefined if the bytes are not a message. */
export function decode(bytes: Buffer): Message | undefined {
  const fields = readFields(bytes)
  if (fields === undefined) return undefined
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

function readFields(bytes: Buffer): Map<number, Buffer | bigint> | undefined {
  const reader = protobuf.Reader.create(bytes)
  const fields = new Map<number, Buffer | bigint>()
  try {
    while (reader.pos < reader.len) {
      const tag = reader.uint32()
      const wireType = tag & 7
      const field = tag >>> 3
      if (wireType === VARINT) fields.set(field, BigInt(String(reader.uint64())))
      else if (wireType === FIXED_64) fields.set(field, BigInt(String(reader.fixed64())))
      else if (wireType === LENGTH) fields.set(field, Buffer.from(reader.bytes()))
      else reader.skipType(wireType)
    }
    return fields
  } catch {
    // The library throws if the bytes end too early or have an invalid type.
    return undefined
  }
}
