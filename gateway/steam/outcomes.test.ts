import { describe, expect, it } from 'vitest'
import {
  cancelOutcome,
  type HttpResult,
  inventoryRefusal,
  sendOutcome,
  sessionEnded,
  unavailableFrom,
} from './outcomes.ts'

const reply = (status: number, body: unknown = null): HttpResult => ({
  kind: 'reply',
  status,
  eresult: null,
  body,
})
const strError = (text: unknown) => reply(500, { strError: text })
const resultError = (result: number) =>
  strError(`There was an error sending your trade offer.  Please try again later. (${result})`)

describe('a send', () => {
  it('counts as sent if Steam gives the offer’s id', () => {
    expect(sendOutcome(reply(200, { tradeofferid: '7001' }))).toEqual({ kind: 'sent', offerId: '7001' })
    expect(sendOutcome(reply(200, { tradeofferid: 7001 }))).toEqual({ kind: 'sent', offerId: '7001' })
  })

  it.each([
    ['a page instead of JSON', reply(200, '<html>')],
    ['an empty body', reply(200, null)],
    ['an empty object', reply(200, {})],
    ['an invalid id', reply(200, { tradeofferid: '../12' })],
    ['an outage', reply(503, '<html>')],
    ['a lost connection', { kind: 'failed', code: 'ECONNRESET' } satisfies HttpResult],
    ['a missed deadline', { kind: 'failed', code: 'DEADLINE' } satisfies HttpResult],
    ['an error that is not a text', strError({ toString: 'x' })],
    ['an error without a number', strError('Sorry, some kind of error has occurred')],
  ])('is unknown after %s', (_, http) => {
    expect(sendOutcome(http).kind).toBe('unknown')
  })

  it.each([2, 10, 11, 16, 20, 28, 29, 55, 99])(
    'is unknown after error %i, because the offer may exist',
    (result) => {
      expect(sendOutcome(resultError(result)).kind).toBe('unknown')
    },
  )

  it.each([
    [15, 'access_denied'],
    [24, 'bot_cannot_trade'],
    [25, 'too_many_offers'],
    [26, 'items_gone'],
    [34, 'renamed'],
    [50, 'too_many_offers'],
    [84, 'rate_limited'],
  ])('is clearly refused with error %i: %s', (result, reason) => {
    expect(sendOutcome(resultError(result))).toEqual({ kind: 'refused', reason })
  })

  it.each([
    ['This Trade URL is no longer valid for sending a trade offer to Nova.', 'invalid_token'],
    ['Trade Offers can only be sent to friends.', 'invalid_token'],
    ['You cannot trade with Nova because they have a trade ban.', 'partner_trade_ban'],
    [
      'Nova is not available to trade. More information will be shown to Nova if they invite you to trade.',
      'partner_cannot_trade',
    ],
    ['You have logged in from a new device. In order to protect the items, …', 'bot_cannot_trade'],
    [
      'You have sent too many trade offers, or have too many outstanding trade offers with Nova. Please cancel some.',
      'too_many_to_partner',
    ],
    [
      'Nova has more than the maximum number of items allowed in your Counter-Strike 2 inventory',
      'inventory_full',
    ],
    ['You have sent too many trade offers. Please cancel some before sending more.', 'too_many_in_all'],
    [
      'You must have had Steam Guard enabled for at least 15 days before you can participate in a trade.',
      'bot_cannot_trade',
    ],
    ['This person has a limited account and cannot receive trade offers.', 'partner_cannot_trade'],
    [
      'Nova\'s inventory privacy is set to "Private", so they cannot receive trade offers.',
      'partner_cannot_trade',
    ],
    [
      "We were unable to contact the game's item server. The game's item server may be down or Steam may be experiencing temporary connectivity issues. Your trade offer has not been sent.",
      'item_server_down',
    ],
  ])('is clearly refused with the text %j', (text, reason) => {
    expect(sendOutcome(strError(text))).toEqual({ kind: 'refused', reason })
    const general = 'There was an error sending your trade offer.  Please try again later.<br><br>'
    expect(sendOutcome(strError(`${general}${text}`))).toEqual({ kind: 'refused', reason })
  })

  it('stays unknown if a persona name looks like a refusal', () => {
    const forged =
      'Nova because they have a trade ban. (26) could not be reached.<br>Please try again later. (16)'
    expect(sendOutcome(strError(forged)).kind).toBe('unknown')
    expect(sendOutcome(strError('Something about a trade ban (15) happened')).kind).toBe('unknown')
  })

  it.each([
    'This profile is private',
    'trade ban (26)',
    'is not available to trade. (15)',
    'Please try again later. (26)',
    '<br>(25)',
    'because they have a trade ban.',
    'This person has a limited accoun',
    'You have sent too many trade off',
    'You must have had Steam Guard en',
    "contact the game's item server",
    'privacy is set to "Private"',
  ])('stays unknown for a person called %j, and their inventory does not count as refused', (name) => {
    const texts = [
      `${name}`,
      `Sorry, some kind of error has occurred: ${name}`,
      `There was an error sending your trade offer to ${name}`,
      `${name} could not be reached`,
    ]
    for (const text of texts) expect(sendOutcome(strError(text)).kind).toBe('unknown')
    const shown = `The items of ${name} cannot be shown now: ${name}`
    expect(inventoryRefusal(reply(200, { success: false, error: shown }))).toBeUndefined()
  })

  it('is refused for the reason that follows the general sentence, or the number that follows the name', () => {
    const general = 'There was an error sending your trade offer.  Please try again later.<br><br>'
    expect(sendOutcome(strError(`${general}Trade Offers can only be sent to friends.`))).toEqual({
      kind: 'refused',
      reason: 'invalid_token',
    })
    expect(sendOutcome(strError('You cannot trade with Nova (16). (34)'))).toEqual({
      kind: 'refused',
      reason: 'renamed',
    })
  })

  it('is refused after status 429', () => {
    expect(sendOutcome(reply(429))).toEqual({ kind: 'refused', reason: 'rate_limited' })
  })
})

describe('the end of a session', () => {
  it.each([
    ['status 401', reply(401)],
    ['a redirect', reply(302)],
    [
      'a page with status 403',
      reply(403, '<html><body>Access is denied. Retrying will not help.</body></html>'),
    ],
  ])('is recognised by %s', (_, http) => {
    expect(sessionEnded(http)).toBe(true)
  })

  it.each([
    ['an empty 403', reply(403, null)],
    ['the error text of a send', reply(500, { strError: 'Access is denied' })],
    ['a page with status 200', reply(200, 'Access is denied')],
    ['a lost connection', { kind: 'failed', code: 'ECONNRESET' } satisfies HttpResult],
  ])('is not concluded from %s', (_, http) => {
    expect(sessionEnded(http)).toBe(false)
  })
})

describe('a cancel', () => {
  it('is done if Steam answers with the id of exactly this offer', () => {
    expect(cancelOutcome('cancel', '12', reply(200, { tradeofferid: '12' }))).toEqual({ kind: 'done' })
    expect(cancelOutcome('cancel', '12', reply(200, { tradeofferid: '13' })).kind).toBe('unavailable')
  })

  it('is `not_active` only after error 11, which means that it came too late', () => {
    expect(cancelOutcome('cancel', '12', resultError(11))).toEqual({ kind: 'not_active' })
    expect(cancelOutcome('cancel', '12', resultError(2)).kind).toBe('unavailable')
  })
})

describe('an unavailable answer', () => {
  it('gives its reason in codes and numbers only', () => {
    expect(unavailableFrom('read', reply(429))).toMatchObject({ reason: 'rate_limited' })
    expect(unavailableFrom('read', { kind: 'failed', code: 'DEADLINE' })).toMatchObject({ reason: 'timeout' })
    expect(unavailableFrom('read', reply(500, { secret: 'eyJ' }))).toEqual({
      kind: 'unavailable',
      reason: 'steam_error',
      detail: 'read: HTTP 500',
    })
  })
})

describe('a refused inventory', () => {
  it.each([
    ['hidden', reply(403, null)],
    ['hidden', reply(200, { success: false, error: 'This profile is private.' })],
    [
      'invalid_token',
      reply(200, {
        success: false,
        error: 'This Trade URL is no longer valid for sending a trade offer to Nova.',
      }),
    ],
    [
      'cannot_trade',
      reply(200, {
        success: false,
        error: 'Nova is not available to trade. More information will be shown to Nova.',
      }),
    ],
    ['not_owned', reply(500, { error: 'EYldRefreshAppIfNecessary failed with EResult 55 (55)' })],
  ])('has the reason %s (case %#)', (reason, http) => {
    expect(inventoryRefusal(http)).toBe(reason)
  })

  it.each([
    ['another error', reply(500, { error: 'EYldRefreshAppIfNecessary failed with EResult 20 (20)' })],
    ['too many requests', reply(429, null)],
  ])('is not concluded from %s', (_, http) => {
    expect(inventoryRefusal(http)).toBeUndefined()
  })
})
