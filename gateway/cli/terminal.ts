import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { TEXT_DIRECTION } from '../../contract/visible-text.ts'
import type { RefusalKind } from '../operations/operation.ts'

/**
 * Replaces characters with which a hostile name could control the terminal, or reverse the rest of its line, for example
 * an amount. Keeps tabs, which separate columns.
 */
export const printable = (line: string): string =>
  line
    .replace(/[^\P{Cc}\t]/gu, ' ')
    .split(TEXT_DIRECTION)
    .join(' ')

/** Thrown to end the command with a message and the exit code of this kind of refusal. */
export class Refusal extends Error {
  readonly refusal: RefusalKind
  constructor(refusal: RefusalKind, message: string) {
    super(message)
    this.refusal = refusal
  }
}

export type Questions = {
  ask(question: string, options?: { hidden?: boolean }): Promise<string>
  close(): void
}

export type Streams = {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

export type Terminal = {
  /** Writes a line of the answer to stdout. */
  print(line: string): void
  /** Writes a line to stderr: a problem, progress, or anything else that is not part of the answer. */
  warn(line: string): void
  /** Yields every line of stdin, trimmed. Includes blank lines, so a line's place is its number in the input. */
  lines(): AsyncGenerator<string>
  /**
   * Starts a dialog: questions go to stderr, and the answers are typed or piped lines of stdin. A `hidden` answer is
   * typed without echo. `ask` throws a Refusal if stdin ends.
   */
  openQuestions(): Questions
  /**
   * Waits until every printed line is written. Resolves to the error if one could not be written, or to undefined if
   * the reader of stdout closed the pipe.
   */
  finish(): Promise<Error | undefined>
}

export function createTerminal({ stdin, stdout, stderr }: Streams): Terminal {
  // A reader that closes the pipe, such as `head`, must not end the process.
  for (const stream of [stdout, stderr]) stream.on('error', () => {})
  let firstError: NodeJS.ErrnoException | undefined
  let written: Promise<void> = Promise.resolve()
  return {
    print(line) {
      written = new Promise((resolve) => {
        stdout.write(`${line}\n`, (error) => {
          firstError ??= error ?? undefined
          resolve()
        })
      })
    },
    warn: (line) => void stderr.write(`${line}\n`),
    lines: () => inputLines(stdin),
    openQuestions: () => openQuestions(stdin, stderr),
    async finish() {
      await written
      // A reader that closed the pipe wants no more lines.
      return firstError?.code === 'EPIPE' ? undefined : firstError
    },
  }
}

function openQuestions(stdin: Streams['stdin'], stderr: NodeJS.WritableStream): Questions {
  let isHidden = false
  const output = new Writable({
    write(chunk, _, done) {
      if (!isHidden) stderr.write(chunk)
      done()
    },
  })
  const isTerminal = stdin.isTTY === true
  const lines = createInterface({ input: stdin, output, terminal: isTerminal })
  const iterator = lines[Symbol.asyncIterator]()
  return {
    async ask(question, { hidden = false } = {}) {
      stderr.write(question)
      // Readline draws the line again after a correction, with its prompt.
      lines.setPrompt(question)
      isHidden = hidden
      const { value, done } = await iterator.next()
      if (hidden && isTerminal) stderr.write('\n')
      isHidden = false
      if (done === true) throw new Refusal('usage', 'The input ended before the last answer.')
      return String(value)
    },
    close: () => lines.close(),
  }
}

async function* inputLines(stdin: Streams['stdin']): AsyncGenerator<string> {
  for await (const line of createInterface({ input: stdin })) yield line.trim()
}
