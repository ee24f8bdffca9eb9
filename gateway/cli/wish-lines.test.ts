import { expect, it } from 'vitest'
import { wishLines } from './wish-lines.ts'

it('the list of wishes ends with the rule that makes wishes automatically', () => {
  const page = { wishes: [], next: null }
  expect(wishLines({ ...page, rule: null })).toEqual([])
  expect(wishLines({ ...page, rule: { destination: 'seller', keep: 20 } })).toEqual([
    'The vault is asked to send the oldest items to seller while a bot has more than 20 free items.',
  ])
})
