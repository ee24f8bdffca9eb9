import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSelectAll, itemForStep, type PickStep, stacksOf, stepOfKey } from './stacks.ts'
import { item } from './test-states.ts'

const fade = (id: string, price = 500) => item(id, price, 'Fade')

describe('a stack', () => {
  it('holds items that look alike and cost the same, in the place of the first', () => {
    const items = [
      fade('1'),
      item('2', 500, 'Lore'),
      fade('3'),
      fade('4', 499),
      { ...fade('5'), iconUrl: 'https://img.test/phase-2.png' },
      { ...fade('6'), rarityName: 'Covert' },
      { ...fade('7'), phase: 'ruby' as const },
      fade('8'),
    ]
    const { fronts, members } = stacksOf(items)
    expect(fronts.map(({ id }) => id)).toEqual(['1', '2', '4', '5', '6', '7'])
    expect([...members]).toEqual([
      ['1', ['1', '3', '8']],
      ['2', ['2']],
      ['4', ['4']],
      ['5', ['5']],
      ['6', ['6']],
      ['7', ['7']],
    ])
  })

  it('loses no item and repeats none', () => {
    const inventories = fc.array(fc.record({ price: fc.constantFrom(1, 2), name: fc.constantFrom('a', 'b') }))
    fc.assert(
      fc.property(inventories, (drawn) => {
        const items = drawn.map(({ price, name }, index) => item(String(index), price, name))
        const { fronts, members } = stacksOf(items)
        const ids = fronts.flatMap(({ id }) => members.get(id) ?? [])
        expect(ids.toSorted()).toEqual(items.map(({ id }) => id).toSorted())
      }),
    )
  })

  it('is built once for each inventory', () => {
    const items = [fade('1')]
    expect(stacksOf(items)).toBe(stacksOf(items))
  })
})

describe('a step', () => {
  it.each<[PickStep, string[], string | undefined]>([
    ['toggle', [], '1'],
    ['toggle', ['1'], '1'],
    ['toggle', ['1', '2'], '2'],
    ['more', [], '1'],
    ['more', ['1', '3'], '2'],
    ['more', ['1', '2', '3'], undefined],
    ['fewer', ['1', '3'], '3'],
    ['fewer', [], undefined],
    ['fewer', ['9'], undefined],
  ])('of the kind "%s", with %j picked, changes %j', (step, picked, id) => {
    expect(itemForStep(['1', '2', '3'], new Set(picked), step)).toBe(id)
  })
})

describe('a key', () => {
  const press = (key: string, modifier: { ctrlKey?: boolean; metaKey?: boolean } = {}) =>
    stepOfKey({ key, ctrlKey: false, metaKey: false, ...modifier })

  it('+ picks one more and - one fewer, but other keys change nothing', () => {
    expect(['+', '-', '=', 'a'].map((key) => press(key))).toEqual(['more', 'fewer', undefined, undefined])
  })

  it.each([{ ctrlKey: true }, { metaKey: true }])(
    '+ or - with %j changes no picks: the browser zooms the page',
    (modifier) => {
      expect(['+', '-'].map((key) => press(key, modifier))).toEqual([undefined, undefined])
    },
  )

  it.each([
    ['a', 'KeyA', true],
    ['A', 'KeyA', true],
    ['ф', 'KeyA', true],
    // A French layout.
    ['a', 'KeyQ', true],
    ['q', 'KeyA', false],
    ['я', 'KeyZ', false],
  ])('%s on %s picks all items with Ctrl or Cmd: %s', (key, code, isAll) => {
    const plain = { key, code, ctrlKey: false, metaKey: false, altKey: false }
    expect(isSelectAll({ ...plain, ctrlKey: true })).toBe(isAll)
    expect(isSelectAll({ ...plain, metaKey: true })).toBe(isAll)
    expect(isSelectAll(plain)).toBe(false)
    // AltGr on Windows.
    expect(isSelectAll({ ...plain, ctrlKey: true, altKey: true })).toBe(false)
  })
})
