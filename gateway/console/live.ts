/** Tells pages that something changed. They ask again for what they show: no row travels here. */
import type { ServerResponse } from 'node:http'
import type { Log } from '../kit/log.ts'
import { type Repeating, repeat } from '../kit/repeat.ts'

/** Streams of this process, and of one session. */
const MOST_STREAMS = 100
const MOST_OF_SESSION = 6
const LOOK_EVERY_MS = 2_000
/** A proxy ends what says nothing, and the session of a stream may have ended. */
const BEAT_EVERY = 10
/** A page opens another one then. */
const MOST_LOOKS = 900

export type Live = {
  /** False where there are too many. */
  open(stream: Stream): boolean
  stop(): Promise<void>
}

export type Stream = {
  /** The session that it belongs to. */
  key: string
  response: ServerResponse
  /** False once its session has ended. */
  mayStay(): Promise<boolean>
}

type Deps = {
  log: Log
  /** Changes with whatever pages show. One look serves all streams. */
  readMark(): Promise<string>
}

export function createLive({ log, readMark }: Deps): Live {
  /** By the look at which each was opened. */
  const streams = new Map<Stream, number>()
  let looking: Repeating | undefined
  let mark: string | undefined
  let looks = 0

  const send = (text: string): void => {
    for (const { response } of streams.keys()) response.write(text)
  }
  const dropOver = async (): Promise<void> => {
    for (const [stream, since] of [...streams]) {
      if (looks - since > MOST_LOOKS || !(await stream.mayStay())) stream.response.end()
    }
  }
  const look = async (): Promise<void> => {
    const next = await readMark()
    const isNews = mark !== undefined && next !== mark
    mark = next
    looks += 1
    if (looks % BEAT_EVERY === 0) await dropOver()
    if (isNews) send('data: changed\n\n')
    else if (looks % BEAT_EVERY === 0) send(': still here\n\n')
  }
  const close = (stream: Stream): void => {
    streams.delete(stream)
    if (streams.size > 0) return
    void looking?.stop()
    looking = undefined
    mark = undefined
  }
  return {
    open(stream) {
      const own = [...streams.keys()].filter(({ key }) => key === stream.key)
      if (streams.size >= MOST_STREAMS || own.length >= MOST_OF_SESSION) return false
      streams.set(stream, looks)
      stream.response.once('close', () => close(stream))
      stream.response.write(': open\n\n')
      looking ??= repeat({ name: 'live rows of the console', everyMs: LOOK_EVERY_MS, log }, look)
      return true
    },
    async stop() {
      for (const { response } of streams.keys()) response.end()
      await looking?.stop()
    },
  }
}
