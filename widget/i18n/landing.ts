/** The texts of the landing page, loaded with it. */
import type { Language } from '../../contract/languages.ts'

const en = {
  title: 'Pay with game items',
  text: 'Tradetill is a till that takes game items. Pay with the items you own: choose them from your Steam inventory, accept one trade offer, and the store credits what they are worth.',
  start: 'A payment starts in the store you want to pay.',
  demo: 'Try it in the demo store',
}

const ru: typeof en = {
  title: 'Платите игровыми предметами',
  text: 'Tradetill — касса, которая принимает игровые предметы. Платите предметами, которые у вас есть: выберите их в инвентаре Steam, примите одно предложение обмена — и магазин зачислит их стоимость.',
  start: 'Платёж начинается в магазине, которому вы хотите заплатить.',
  demo: 'Попробовать в демо-магазине',
}

export const landingTexts: Record<Language, typeof en> = { en, ru }
