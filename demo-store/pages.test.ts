import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { callersOf, type Demo, RECEIPT, SECRET, startDemo, URL_OF_DEPOSIT } from './stub-till.ts'

let demo: Demo
let callers: ReturnType<typeof callersOf>

beforeEach(async () => {
  demo = await startDemo()
  callers = callersOf(demo)
})
afterEach(() => demo.end())

describe('the store', () => {
  const changeCart = (good: string, by = 'more') =>
    fetch(`${demo.store.url}/cart?by=${by}`, {
      method: 'POST',
      body: new URLSearchParams({ good }),
      redirect: 'manual',
    })
  const lastExternalId = () => String(demo.till.calls.at(-1)?.body.externalId)
  const readText = async (path: string, headers: Record<string, string> = {}) =>
    (await (await fetch(`${demo.store.url}${path}`, { headers })).text())
      .replace(/<[^>]+>/g, ' ')
      .replace(/ +/g, ' ')

  test('sells a cart for balance and items together, once the items are credited', async () => {
    await callers.send({ data: { amount: 400 } })
    for (const good of ['gems', 'gems', 'chest']) await changeCart(good)
    await changeCart('chest', 'less')
    await changeCart('nothing')
    expect((await callers.press({ for: 'cart' })).status).toBe(303)
    expect(demo.till.calls.at(-1)?.body).toMatchObject({ targetAmount: 2 * 499 - 400 })
    const externalId = lastExternalId()
    expect(await readText(`/?paid=${externalId}`)).toContain('the credit follows in a moment')
    await callers.send({ id: 'event-2', data: { id: '1002', externalId, amount: 700 } })
    expect(await callers.readBalances()).toEqual({ USD: 400 + 700 - 998 })
    expect(await readText(`/?paid=${externalId}`)).toMatch(/Your purchase is complete.*500 embers × 2/s)
    expect(await callers.readParts()).toContain('Nothing in it yet')
    await callers.send({ id: 'event-3', sequence: 3, data: { id: '1002', externalId, amount: 700 } })
    expect(await callers.readBalances()).toEqual({ USD: 102 })
  })

  test('sells nothing for held money until the money is released', async () => {
    await changeCart('potion')
    await callers.press({ for: 'cart', hold: 'on' })
    const data = { externalId: lastExternalId(), heldAmount: 1250 }
    await callers.send({ data })
    expect(await readText(`/?paid=${lastExternalId()}`)).toContain('follows once their worth can be spent')
    await callers.send({
      id: 'free',
      sequence: 3,
      type: 'deposit.funds_available',
      data: { ...data, heldAmount: 0 },
    })
    expect(await callers.readBalances()).toEqual({ USD: 1_250 - 300 })
    expect(await readText('/')).toContain('Draught of haste × 1')
  })

  test('does not sell a cart for other money after the shopper took back the items that were to pay for it', async () => {
    await changeCart('potion')
    await callers.press({ for: 'cart', hold: 'on' })
    const externalId = lastExternalId()
    await callers.send({ data: { externalId, heldAmount: 1250 } })
    await callers.send({ id: 'other', data: { id: '1002', externalId: 'topup-2' } })
    const data = { externalId, reversedAmount: 1250 }
    await callers.send({ id: 'back', sequence: 3, type: 'deposit.reversed', data })
    expect(await callers.readBalances()).toEqual({ USD: 1_250 })
    expect(await readText(`/?paid=${externalId}`)).not.toContain('Your purchase')
    expect(await readText('/')).toMatch(/Draught of haste − 1/)
  })

  test('does not blame the items of a trade that was cancelled on the phone', async () => {
    const data = { status: 'tradeHasInvalidItems', amount: null, endReason: 'cancelled_by_second_factor' }
    await callers.send({ type: 'deposit.trade_has_invalid_items', data })
    expect(await readText('/')).toContain('Trade not completed')
    expect(await readText('/')).not.toContain('no longer available')
  })

  test('sells a cart once even if it was paid twice, and keeps in the cart the goods that were added later', async () => {
    await changeCart('potion')
    const paid: string[] = []
    for (const _again of [1, 2]) {
      await callers.press({ for: 'cart' })
      paid.push(lastExternalId())
    }
    await changeCart('gems')
    for (const [index, externalId] of paid.entries()) {
      await callers.send({ id: externalId, data: { id: `${index}`, externalId } })
    }
    expect(await callers.readBalances()).toEqual({ USD: 2 * 1_250 - 300 })
    expect(await readText('/')).toMatch(/500 embers − 1 /)
    expect(await readText('/')).toContain('Draught of haste × 1')
    expect(await readText(`/?paid=${paid[1]}`)).toContain('Your balance was topped up')
  })

  test('sells immediately for a sufficient balance, and not at all for a smaller one', async () => {
    await changeCart('anvil')
    const buy = () => fetch(`${demo.store.url}/purchases`, { method: 'POST', redirect: 'manual' })
    await buy()
    await callers.send({ data: { amount: 6_600 } })
    expect(await readText('/')).toContain('Buy with your balance')
    await buy()
    await buy()
    expect(await callers.readBalances()).toEqual({ USD: 100 })
  })

  test('shows a negative balance if spent money is taken back, and adds the debt to the next payment', async () => {
    await callers.send({})
    await changeCart('cape')
    await fetch(`${demo.store.url}/purchases`, { method: 'POST', redirect: 'manual' })
    await callers.send({ id: 'back', sequence: 3, type: 'deposit.reversed', data: { reversedAmount: 1250 } })
    expect(await readText('/')).toMatch(/-\$8\.50.*taken back after you had spent their worth/s)
    await changeCart('gems')
    await callers.press({ for: 'cart' })
    expect(demo.till.calls.at(-1)?.body).toMatchObject({ targetAmount: 850 + 499 })
  })

  test('shows an open offer and a link to its deposit, in both languages, until the offer ends', async () => {
    await callers.press()
    const offerNotice = async (language: string) =>
      (
        await (await fetch(demo.store.url, { headers: { cookie: `ember_language=${language}` } })).text()
      ).match(/class="open-offer">([^<]*)<a href="([^"]*)">([^<]*)</)
    expect(await offerNotice('en')).toBeNull()
    const data = { externalId: lastExternalId(), url: URL_OF_DEPOSIT, amount: null }
    await callers.send({ id: 'open', type: 'deposit.pending', data: { ...data, status: 'pending' } })
    expect((await offerNotice('en'))?.slice(1)).toEqual([
      'Your trade offer is still open on Steam. ',
      URL_OF_DEPOSIT,
      'Go to your open offer',
    ])
    expect((await offerNotice('ru'))?.[1]).toContain('Ваше предложение обмена ещё открыто')
    await callers.send({ id: 'paid', sequence: 3, data: { ...data, amount: 1250 } })
    expect(await offerNotice('en')).toBeNull()
  })

  test('frames the deposit in a page of the store if the shopper chose a frame, and shows the page to no other shopper', async () => {
    const answer = await callers.press({ where: 'here' })
    const path = answer.headers.get('location') ?? ''
    expect(path).toBe(`/pay?order=${lastExternalId()}`)
    expect(demo.till.calls[0]?.body).toMatchObject({ embedOrigin: demo.store.url })
    const page = await fetch(`${demo.store.url}${path}`)
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain(`frame-src ${demo.till.url};`)
    expect(policy).toContain(`script-src 'self' ${demo.till.url};`)
    expect(await page.text()).toContain(`<tradetill-deposit src="${URL_OF_DEPOSIT}">`)
    const answerToOther = await fetch(`${demo.store.url}${path}`, {
      headers: { cookie: 'ember_shopper=mira_sol' },
    })
    expect(answerToOther.status).toBe(404)
  })

  test('shows each payment with its number, a link to its page, and its receipt once it has ended', async () => {
    await callers.press()
    const externalId = lastExternalId()
    const ways = async (language = 'en') => {
      const headers = { cookie: `ember_language=${language}` }
      const page = await (await fetch(`${demo.store.url}/live`, { headers })).text()
      return /<span class="ways">(.*?)<\/span>/.exec(page)?.[1]
    }
    expect(await ways()).toBe(`<b>#1001</b> <a href="${URL_OF_DEPOSIT}">Continue</a>`)
    await callers.send({ data: { externalId, receiptUrl: RECEIPT } })
    expect(await ways()).toBe(
      `<b>#1001</b> <a href="${URL_OF_DEPOSIT}">Open payment</a> <a href="${RECEIPT}?lang=en">Receipt</a>`,
    )
    expect(await ways('ru')).toMatch(/>Открыть платёж<.*lang=ru">Квитанция</)
  })

  test('says that money is on hold, and calls a payment credited only as far as its money can be spent', async () => {
    const state = async () => /<span class="status \w+">([^<]*)</.exec(await callers.readParts())?.[1]
    await callers.send({ data: { heldAmount: 1250, heldUntil: '2026-01-09T12:00:00.000Z' } })
    expect(await state()).toBe('Items received, money on hold')
    await callers.send({ id: 'event-3', sequence: 3, data: { heldAmount: 250 } })
    expect(await state()).toBe('Credited in part')
    await callers.send({ id: 'event-4', sequence: 4 })
    expect(await state()).toBe('Credited')
  })

  test.each([
    ['en', 'Where is my receipt?'],
    ['ru', 'Где моя квитанция?'],
  ])('says in its help where the receipt is, in %s', async (language, question) => {
    const headers = { cookie: `ember_language=${language}` }
    expect(await readText('/help', headers)).toContain(question)
    expect(await (await fetch(demo.store.url, { headers })).text()).toContain('<a href="/help">')
  })

  test('describes sandbox shoppers in the sandbox’s words, and links to the page with all of them', async () => {
    const page = await (await fetch(demo.store.url)).text()
    expect(page).toContain('<small class="quiet">Dota 2: 24 &#60;i&#62;</small>')
    expect(page).toContain(`<a href="${demo.till.url}/">copy the trade link of a test shopper</a>`)
  })

  test('fills in the trade link of the sandbox shopper whose button was pressed, but none for an unknown name', async () => {
    await callers.press({ play: '<b>nova' })
    await callers.press({ play: 'nobody' })
    const links = demo.till.calls.map(({ body }) => body.tradeUrl)
    expect(links).toEqual([expect.stringContaining('https://steamcommunity.com/tradeoffer/new/'), undefined])
  })

  test('keeps the language in which a shopper comes back from the till', async () => {
    await callers.press()
    const { backToStoreUrl } = demo.till.calls[0]?.body ?? {}
    expect(backToStoreUrl).toBe(`${demo.store.url}/?order={EXTERNAL_ID}&lang={LANGUAGE}`)
    const fetchReturnPage = (lang: string) =>
      fetch(`${demo.store.url}/?order=${lastExternalId()}&lang=${lang}`, { redirect: 'manual' })
    const { status, headers } = await fetchReturnPage('ru')
    expect([status, headers.get('location')]).toEqual([303, `/?order=${lastExternalId()}`])
    const [cookie = ''] = headers.getSetCookie()
    expect(cookie).toMatch(/^ember_language=ru; /)
    expect(await readText(`/?order=${lastExternalId()}`, { cookie })).toContain('Корзина')
    // A till that does not know the placeholder leaves it as it is.
    const unknown = await fetchReturnPage('{LANGUAGE}')
    expect([unknown.status, unknown.headers.getSetCookie()]).toEqual([200, []])
  })

  test('thanks a shopper who comes back, but not before the payment is credited', async () => {
    await callers.press()
    const readReturnPage = () => readText(`/?order=${lastExternalId()}`)
    expect(await readReturnPage()).not.toContain('Thank you')
    await callers.send({ data: { externalId: lastExternalId() } })
    expect(await readReturnPage()).toContain('Thank you! Your balance was topped up.')
  })

  test.each([
    ['en', { heldAmount: 1_250 }, 'Thank you! Your items arrived. On hold: $12.50 until 4 Dec <'],
    ['en', { heldAmount: 750 }, 'Thank you! $5.00 was added to your balance. On hold: $7.50 until 4 Dec <'],
    [
      'en',
      { heldAmount: 750, reversedAmount: 500 },
      'Thank you! Your items arrived. On hold: $7.50 until 4 Dec <',
    ],
    ['ru', { heldAmount: 1_250 }, 'Спасибо! Предметы получены. Удержано: 12,50 $ до 4 дек. <'],
    ['ru', { heldAmount: 750 }, 'Спасибо! На баланс поступило 5,00 $. Удержано: 7,50 $ до 4 дек. <'],
    ['en', { reversedAmount: 1_250 }, undefined],
  ])(
    'thanks for the available and the held amount, and not if nothing is left, in %s: %j',
    async (language, change, thanks) => {
      await callers.press()
      const heldUntil = '2026-12-04T12:00:00Z'
      await callers.send({ data: { externalId: lastExternalId(), heldUntil, ...change } })
      const cookie = `ember_language=${language}`
      const page = await fetch(`${demo.store.url}/?order=${lastExternalId()}`, { headers: { cookie } })
      const [, shown] = /<p class="thanks" role="status">(.*?<)\/p>/.exec(await page.text()) ?? []
      const plain = shown
        ?.replace(/<\/?time[^>]*>/g, '')
        .replaceAll('\u00a0', ' ')
        .replace(/(\S)<$/, '$1 <')
      expect(plain).toBe(thanks)
    },
  )

  test('is in Russian for a browser that prefers it, prices included, unless the visitor chose English', async () => {
    const russian = { 'accept-language': 'ru,en;q=0.5', cookie: 'ember_currency=BRL' }
    expect(await readText('/', russian)).toMatch(/Сезонный пропуск.*79,90/s)
    expect(await readText('/', { ...russian, cookie: 'ember_language=en' })).toContain('Season pass')
  })

  test('shows calls and webhooks in a drawer, with links cut short and without the key', async () => {
    await callers.press({ play: '<b>nova' })
    await callers.send({ data: { receiptUrl: RECEIPT } })
    await callers.send({}, (headers) => {
      headers['webhook-signature'] = 'v1,AAAA'
    })
    const drawer = await callers.readParts()
    expect(await readText('/live')).toMatch(
      /webhook refused.*deposit\.succeeded \+\$12\.50.*POST \/v1\/deposits 201/s,
    )
    expect(drawer).toContain('/deposit/0123…')
    for (const secret of [
      'tt_test_key',
      SECRET,
      'token=abc',
      URL_OF_DEPOSIT.slice(-28),
      RECEIPT.slice(-28),
    ]) {
      expect(drawer.slice(drawer.indexOf('id="notes"'))).not.toContain(secret)
    }
  })
})
