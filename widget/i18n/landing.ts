/** The texts of the landing page, which come with it. */
import type { Language } from '../../contract/languages.ts'

const en = {
  title: 'Pay with game items',
  text: 'Tradetill is a till that takes game items. A store sends you here, you pick items from your Steam inventory, a bot collects them in one trade offer, and the store credits what they are worth.',
  start: 'A payment starts in the store you want to pay.',
  demo: 'Try it in the demo store',
}

const ru: typeof en = {
  title: 'Платите игровыми предметами',
  text: 'Tradetill — касса, которая принимает игровые предметы. Магазин отправляет вас сюда, вы выбираете предметы из инвентаря Steam, бот забирает их одним предложением обмена, а магазин зачисляет их стоимость.',
  start: 'Платёж начинается в магазине, который вы хотите пополнить.',
  demo: 'Попробовать в демо-магазине',
}

export const landingTexts: Record<Language, typeof en> = { en, ru }
