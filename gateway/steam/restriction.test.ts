import { describe, expect, it } from 'vitest'
import { parsePublicPage } from './parse.ts'

const description = { classid: '310', instanceid: '302', name: 'Key', market_hash_name: 'Key', tradable: 0 }
const asset = { appid: 730, contextid: '2', assetid: '42', classid: '310', instanceid: '302', amount: '1' }

function restrictionOf(fields: object) {
  const page = { success: 1, assets: [asset], descriptions: [{ ...description, ...fields }] }
  return parsePublicPage(page)?.items[0]?.restriction
}
const lines = (...values: unknown[]) => ({ owner_descriptions: values.map((value) => ({ value })) })

describe('the restriction of an item', () => {
  it.each([
    ['an English line of the market', lines(' ', 'Tradable/Marketable After Apr 13, 2026 (7:00:00) GMT')],
    ['a line with a number', lines('Tradable After [date]1776063600[/date]')],
    ['a field', { item_expiration: '2026-04-13T07:00:00Z' }],
    ['a field in seconds', { item_expiration: 1_776_063_600 }],
  ])('is a hold until the date in %s', (_, fields) => {
    expect(restrictionOf(fields)).toEqual({ kind: 'held', until: '2026-04-13T07:00:00.000Z' })
  })

  it('is a hold with an unknown end if the date is in another language', () => {
    const fields = lines('Можно будет продать или передать 13 апр. 2026 г. (7:00:00) GMT')
    expect(restrictionOf(fields)).toEqual({ kind: 'held', until: null })
  })

  it('is trade protection if the item is sealed and not listed on the market', () => {
    const until = lines(
      '⇆ This item is trade-protected and cannot be consumed, modified, or transferred until Apr 13, 2026 (7:00:00) GMT',
    )
    expect(restrictionOf({ sealed: 1, sealed_type: 0, ...until })).toEqual({
      kind: 'protected',
      until: '2026-04-13T07:00:00.000Z',
    })
    expect(restrictionOf({ sealed: 1 })).toEqual({ kind: 'protected', until: null })
    expect(restrictionOf({ sealed: 1, sealed_type: 1 })).toBeNull()
  })

  it('is null without details, or for an item that can be traded now', () => {
    expect(restrictionOf({ tradable: 1, item_expiration: '2026-04-13T07:00:00Z' })).toBeNull()
    expect(restrictionOf({})).toBeNull()
    expect(restrictionOf(lines('A gift from a friend', ''))).toBeNull()
  })

  it.each([
    ['no date', { item_expiration: 'constructor' }, null],
    ['a date in the far future', { item_expiration: '9999-12-31T00:00:00Z' }, null],
    [
      'a month that does not exist',
      lines('Tradable After Foo 99, 2026 (99:99:99) GMT'),
      { kind: 'held', until: null },
    ],
    ['lines that are not a list', { owner_descriptions: 'x', item_expiration: {} }, null],
    ['a number too large for a date', { item_expiration: 1e300, sealed: {}, sealed_type: {} }, null],
  ])('is null or has no known end if Steam gives %s', (_, fields, restriction) => {
    expect(restrictionOf(fields)).toEqual(restriction)
  })

  it('is `undescribed` if Steam does not describe the item', () => {
    const page = parsePublicPage({ success: 1, assets: [asset], descriptions: [] })
    expect(page?.items[0]?.restriction).toEqual({ kind: 'undescribed', until: null })
  })
})
