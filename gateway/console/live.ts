/** Notifies pages that something changed. Sends no rows, so pages fetch their data again. */
import type { ServerResponse } from 'node:http'
import type { Log } from '../kit/log.ts'
import { type Repeating, repeat } from '../kit/repeat.ts'

const MOST_STREAMS = 100
/**
 * A browser has six connections to a server over HTTP/1.1, for all its tabs together. If streams took them all, no call
 * would go through. Tabs without a stream poll.
 */
const MOST_STREAMS_OF_SESSION = 3
const CHECK_EVERY_MS = 2_000
/**
 * Number of checks between two beats. At a beat, every stream gets a line, so proxies do not close it, and the streams
 * of ended sessions are closed.
 */
const CHECKS_PER_BEAT = 10
/** A stream that has lasted this many checks, half an hour, is closed at the next beat. The page then opens another. */
const MOST_CHECKS = 900

export type Live = {
  /** Returns false if there are too many streams, or if the caller has left. */
  open(stream: Stream): boolean
  stop(): Promise<void>
}

export type Stream = {
  /** Key of the stream's session. */
  key: string
  response: ServerResponse
  /** Resolves to false once the stream's session has ended. */
  mayStay(): Promise<boolean>
}

type Deps = {
  log: Log
  /** Reads a value that changes with the rows that matter most to the pages. One read serves all streams. */
  readMark(): Promise<string>
}

export function createLive({ log, readMark }: Deps): Live {
  /** Each stream with the number of the check at which it was opened. */
  const streams = new Map<Stream, number>()
  let checking: Repeating | undefined
  let mark: string | undefined
  let checks = 0

  const send = (text: string): void => {
    for (const { response } of streams.keys()) response.write(text)
  }
  const remove = (stream: Stream): void => {
    streams.delete(stream)
    if (streams.size > 0) return
    void checking?.stop()
    checking = undefined
    mark = undefined
  }
  /** Removes the stream first, because its `close` event comes later, and a write until then would be an error. */
  const end = (stream: Stream): void => {
    remove(stream)
    stream.response.end()
  }
  const endExpired = async (): Promise<void> => {
    for (const [stream, since] of [...streams]) {
      if (checks - since > MOST_CHECKS || !(await stream.mayStay())) end(stream)
    }
  }
  const check = async (): Promise<void> => {
    const newMark = await readMark()
    if (streams.size === 0) return
    checks += 1
    const isBeat = checks % CHECKS_PER_BEAT === 0
    if (isBeat) await endExpired()
    if (streams.size === 0) return
    const isNews = mark !== undefined && newMark !== mark
    mark = newMark
    if (isNews) send('data: changed\n\n')
    else if (isBeat) send(': still here\n\n')
  }
  return {
    open(stream) {
      // The response's `close` event has passed, so nothing would remove the stream.
      if (stream.response.destroyed) return false
      const ofSession = [...streams.keys()].filter(({ key }) => key === stream.key)
      if (streams.size >= MOST_STREAMS || ofSession.length >= MOST_STREAMS_OF_SESSION) return false
      streams.set(stream, checks)
      stream.response.once('close', () => remove(stream))
      stream.response.write(': open\n\n')
      checking ??= repeat({ name: 'live rows of the console', everyMs: CHECK_EVERY_MS, log }, check)
      return true
    },
    async stop() {
      const running = checking
      for (const stream of [...streams.keys()]) end(stream)
      await running?.stop()
    },
  }
}
