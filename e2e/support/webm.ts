/** Writes a WebM file of one VP9 track: https://www.matroska.org/technical/elements.html */

export type Frame = { atMs: number; isKey: boolean; data: Buffer }

export type Clip = { width: number; height: number; durationMs: number; frames: Frame[] }

const uint = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

const float = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(value)
  return bytes
}

const text = (value: string): Buffer => Buffer.from(value)

/** Every size takes eight bytes, so no position depends on another one. */
function element(id: string, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const size = uint(content.length)
  size[0] = 1
  return Buffer.concat([Buffer.from(id, 'hex'), size, content])
}

function block({ atMs, isKey, data }: Frame, clusterMs: number): Buffer {
  const head = Buffer.alloc(4)
  head[0] = 0x81
  head.writeInt16BE(atMs - clusterMs, 1)
  head[3] = isKey ? 0x80 : 0
  return element('a3', head, data)
}

/** Begins a cluster with each key frame, because players can jump to clusters. */
function clustersOf(frames: Frame[]): { atMs: number; bytes: Buffer }[] {
  const starts = frames.flatMap(({ isKey }, index) => (isKey ? [index] : []))
  return starts.map((start, place) => {
    const own = frames.slice(start, starts[place + 1])
    const atMs = own[0]?.atMs ?? 0
    return {
      atMs,
      bytes: element('1f43b675', element('e7', uint(atMs)), ...own.map((each) => block(each, atMs))),
    }
  })
}

export function webmOf({ width, height, durationMs, frames }: Clip): Buffer {
  const header = element(
    '1a45dfa3',
    element('4286', uint(1)),
    element('42f7', uint(1)),
    element('42f2', uint(4)),
    element('42f3', uint(8)),
    element('4282', text('webm')),
    element('4287', uint(4)),
    element('4285', uint(2)),
  )
  const info = element(
    '1549a966',
    element('2ad7b1', uint(1_000_000)),
    element('4489', float(durationMs)),
    element('4d80', text('tradetill')),
    element('5741', text('tradetill')),
  )
  const video = element('e0', element('b0', uint(width)), element('ba', uint(height)))
  const tracks = element(
    '1654ae6b',
    element(
      'ae',
      element('d7', uint(1)),
      element('73c5', uint(1)),
      element('83', uint(1)),
      element('86', text('V_VP9')),
      video,
    ),
  )
  const clusters = clustersOf(frames)
  const cuesWith = (positions: number[]): Buffer =>
    element(
      '1c53bb6b',
      ...clusters.map(({ atMs }, index) => {
        const place = element('b7', element('f7', uint(1)), element('f1', uint(positions[index] ?? 0)))
        return element('bb', element('b3', uint(atMs)), place)
      }),
    )
  let position = info.length + tracks.length + cuesWith([]).length
  const positions = clusters.map(({ bytes }) => {
    position += bytes.length
    return position - bytes.length
  })
  const segment = element(
    '18538067',
    info,
    tracks,
    cuesWith(positions),
    ...clusters.map(({ bytes }) => bytes),
  )
  return Buffer.concat([header, segment])
}
