import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** Ends a command with a message for its user. */
export class Refusal extends Error {}

export type Terminal = {
  /** False if the input is a pipe. */
  isPerson: boolean
  print(line: string): void
  ask(question: string, options?: { hidden?: boolean }): Promise<string>
  /** The non-empty lines of a pipe. */
  lines(): Promise<string[]>
}

type Streams = { stdin: NodeJS.ReadStream; stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream }

export function createTerminal({ stdin, stdout, stderr }: Streams): Terminal {
  return {
    isPerson: stdin.isTTY === true,
    // Control characters other than tabs become spaces, so no text from outside can change what the terminal shows.
    print: (line) => void stdout.write(`${line.replace(/[^\P{Cc}\t]/gu, ' ')}\n`),
    async ask(question, { hidden = false } = {}) {
      stderr.write(`${question}: `)
      const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
      const output = hidden ? silent : stderr
      const lines = createInterface({ input: stdin, output, terminal: stdin.isTTY === true })
      const ended = new Promise<never>((_, reject) =>
        lines.once('close', () => reject(new Refusal('The input ended without an answer.'))),
      )
      try {
        return await Promise.race([lines.question(''), ended])
      } finally {
        // Closing `lines` rejects this promise, which nobody awaits any longer.
        ended.catch(() => {})
        lines.close()
        if (hidden) stderr.write('\n')
      }
    },
    async lines() {
      const lines: string[] = []
      for await (const line of createInterface({ input: stdin })) if (line.trim() !== '') lines.push(line)
      return lines
    },
  }
}
