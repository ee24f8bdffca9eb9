import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createTerminal } from './terminal.ts'

it('a question stays on its line while the operator corrects the answer with Backspace', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const stderr = new PassThrough()
  const questions = createTerminal({ stdin, stdout: stderr, stderr }).openQuestions()
  const answer = questions.ask('Account name: ')
  stdin.write('emberx\u007f\r')
  expect(await answer).toBe('ember')
  questions.close()
  const eraseLine = '\u001b[1G\u001b[0J'
  expect(String(stderr.read())).toContain(`${eraseLine}Account name: ember`)
})
