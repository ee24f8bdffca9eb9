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

/** The ids of the elements, in hexadecimal. */
const ID = {
  SimpleBlock: 'a3',
  Cluster: '1f43b675',
  Timestamp: 'e7',
  EBML: '1a45dfa3',
  EBMLVersion: '4286',
  EBMLReadVersion: '42f7',
  EBMLMaxIDLength: '42f2',
  EBMLMaxSizeLength: '42f3',
  DocType: '4282',
  DocTypeVersion: '4287',
  DocTypeReadVersion: '4285',
  Info: '1549a966',
  TimestampScale: '2ad7b1',
  Duration: '4489',
  MuxingApp: '4d80',
  WritingApp: '5741',
  Video: 'e0',
  PixelWidth: 'b0',
  PixelHeight: 'ba',
  Tracks: '1654ae6b',
  TrackEntry: 'ae',
  TrackNumber: 'd7',
  TrackUID: '73c5',
  TrackType: '83',
  CodecID: '86',
  Cues: '1c53bb6b',
  CueTrackPositions: 'b7',
  CueTrack: 'f7',
  CueClusterPosition: 'f1',
  CuePoint: 'bb',
  CueTime: 'b3',
  Segment: '18538067',
} as const

/** Sizes and numbers always take eight bytes, so an element's length does not depend on the positions written in it. */
function element(id: string, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const size = uint(content.length)
  // Marks a size of eight bytes.
  size[0] = 1
  return Buffer.concat([Buffer.from(id, 'hex'), size, content])
}

function block({ atMs, isKey, data }: Frame, clusterMs: number): Buffer {
  const head = Buffer.alloc(4)
  // The number of the track, 1, in one byte.
  head[0] = 0x81
  head.writeInt16BE(atMs - clusterMs, 1)
  // The flag of a key frame.
  head[3] = isKey ? 0x80 : 0
  return element(ID.SimpleBlock, head, data)
}

/** Begins a cluster with each key frame, because players can jump to clusters. */
function clustersOf(frames: Frame[]): { atMs: number; bytes: Buffer }[] {
  const starts = frames.flatMap(({ isKey }, index) => (isKey ? [index] : []))
  return starts.map((start, index) => {
    const clusterFrames = frames.slice(start, starts[index + 1])
    const atMs = clusterFrames[0]?.atMs ?? 0
    return {
      atMs,
      bytes: element(
        ID.Cluster,
        element(ID.Timestamp, uint(atMs)),
        ...clusterFrames.map((frame) => block(frame, atMs)),
      ),
    }
  })
}

export function webmOf({ width, height, durationMs, frames }: Clip): Buffer {
  const header = element(
    ID.EBML,
    element(ID.EBMLVersion, uint(1)),
    element(ID.EBMLReadVersion, uint(1)),
    element(ID.EBMLMaxIDLength, uint(4)),
    element(ID.EBMLMaxSizeLength, uint(8)),
    element(ID.DocType, text('webm')),
    element(ID.DocTypeVersion, uint(4)),
    element(ID.DocTypeReadVersion, uint(2)),
  )
  const info = element(
    ID.Info,
    // Nanoseconds in a unit of time: all times are in milliseconds.
    element(ID.TimestampScale, uint(1_000_000)),
    element(ID.Duration, float(durationMs)),
    element(ID.MuxingApp, text('tradetill')),
    element(ID.WritingApp, text('tradetill')),
  )
  const video = element(ID.Video, element(ID.PixelWidth, uint(width)), element(ID.PixelHeight, uint(height)))
  const tracks = element(
    ID.Tracks,
    element(
      ID.TrackEntry,
      element(ID.TrackNumber, uint(1)),
      element(ID.TrackUID, uint(1)),
      element(ID.TrackType, uint(1)),
      element(ID.CodecID, text('V_VP9')),
      video,
    ),
  )
  const clusters = clustersOf(frames)
  const cuesWith = (positions: number[]): Buffer =>
    element(
      ID.Cues,
      ...clusters.map(({ atMs }, index) => {
        const place = element(
          ID.CueTrackPositions,
          element(ID.CueTrack, uint(1)),
          element(ID.CueClusterPosition, uint(positions[index] ?? 0)),
        )
        return element(ID.CuePoint, element(ID.CueTime, uint(atMs)), place)
      }),
    )
  // A position counts from the first byte of the segment's content.
  let position = info.length + tracks.length + cuesWith([]).length
  const positions = clusters.map(({ bytes }) => {
    position += bytes.length
    return position - bytes.length
  })
  const segment = element(
    ID.Segment,
    info,
    tracks,
    cuesWith(positions),
    ...clusters.map(({ bytes }) => bytes),
  )
  return Buffer.concat([header, segment])
}
