/** Words and questions of a command. A secret that is typed is not shown, and it is never an argument of a command. */
import { Console } from 'node:console'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { RefusalKind } from '../operations/operation.ts'

/** Names are hostile: a control character could drive the terminal. A tab parts columns. */
export const printable = (line: string): string => line.replace(/[^\P{Cc}\t]/gu, ' ')

/** Ends the command with a message and the exit code of its kind. */
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

/** The streams of a process, or those of a test. */
export type Streams = {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

export type Terminal = {
  /** Writes a line of the answer to stdout. */
  print(line: string): void
  /** Writes a line to stderr: a problem, or that there is no answer to show. */
  warn(line: string): void
  /** Every line of stdin that holds something. */
  lines(): AsyncGenerator<string>
  /** Asks on stderr and reads lines of stdin, typed or piped. A stdin that ends is a refusal. */
  openQuestions(): Questions
}

export function createTerminal({ stdin, stdout, stderr }: Streams): Terminal {
  // Unlike a bare write, it survives a reader that went away, such as `head`.
  const output = new Console({ stdout, stderr })
  return {
    print: (line) => output.log(line),
    warn: (line) => output.error(line),
    lines: () => inputLines(stdin),
    openQuestions: () => openQuestions(stdin, stderr),
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
  const terminal = stdin.isTTY === true
  const lines = createInterface({ input: stdin, output, terminal })
  const iterator = lines[Symbol.asyncIterator]()
  return {
    async ask(question, { hidden = false } = {}) {
      stderr.write(question)
      isHidden = hidden
      const { value, done } = await iterator.next()
      if (hidden && terminal) stderr.write('\n')
      isHidden = false
      if (done === true) throw new Refusal('usage', 'Nothing more was typed.')
      return String(value)
    },
    close: () => lines.close(),
  }
}

async function* inputLines(stdin: Streams['stdin']): AsyncGenerator<string> {
  for await (const line of createInterface({ input: stdin })) {
    if (line.trim() !== '') yield line.trim()
  }
}
