import { describe } from 'vitest'
import { lookAt, RUNS } from './scenes.ts'

describe('every state of the inventory can be used by everybody', () => {
  lookAt(RUNS.filter(({ name }) => name.startsWith('inventory')))
})
