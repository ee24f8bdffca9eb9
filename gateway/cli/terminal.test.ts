import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createTerminal, printable } from './terminal.ts'

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

it('a printed line keeps its tabs, and has no control characters and no marks that reverse the text after them', () => {
  // Clears the screen, begins another line, and shows `10.00` as `00.01`.
  const hostile = 'order\tx\u001b[2J\u009b2J\r\n\u202e10.00\u2067 '
  expect(printable(hostile)).toBe('order\tx [2J 2J   10.00  ')
})
