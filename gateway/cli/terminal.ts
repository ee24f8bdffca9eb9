/** Questions to the operator. What is typed for a secret is not shown and never an argument of a command. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Ends the command with a message and exit code 1. */
export class Refusal extends Error {}

export type Questions = {
  ask(question: string, options?: { hidden?: boolean }): Promise<string>
  close(): void
}

/** Asks on stderr and reads lines of stdin, typed or piped. A stdin that ends is a refusal. */
export function openQuestions(): Questions {
  let isHidden = false
  const output = new Writable({
    write(chunk, _, done) {
      if (!isHidden) process.stderr.write(chunk)
      done()
    },
  })
  const terminal = process.stdin.isTTY === true
  const lines = createInterface({ input: process.stdin, output, terminal })
  const iterator = lines[Symbol.asyncIterator]()
  return {
    async ask(question, { hidden = false } = {}) {
      process.stderr.write(question)
      isHidden = hidden
      const { value, done } = await iterator.next()
      if (hidden && terminal) process.stderr.write('\n')
      isHidden = false
      if (done === true) throw new Refusal('Nothing more was typed.')
      return String(value)
    },
    close: () => lines.close(),
  }
}

/** Every line of stdin that holds something. */
export async function* inputLines(): AsyncGenerator<string> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() !== '') yield line.trim()
  }
}
