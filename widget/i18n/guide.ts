/** The texts of the guide to the trade link, loaded with it. */
import type { Language } from '../../contract/languages.ts'
import { itemConditions } from './conditions.ts'

const en = {
  itemConditions: itemConditions.en,
  guideTitle: 'Where to find your trade link',
  guideSteps: [
    {
      title: 'Open your trade settings',
      text: 'Open Steam → Inventory → Trade Offers → “Who can send me Trade Offers?”',
    },
    {
      title: 'Copy the trade URL',
      text: 'You’ll find it at the bottom of that page, under “Third-Party Sites”.',
    },
    {
      title: 'Paste it here',
      text: 'We’ll show your name and avatar so you can check it’s you.',
    },
  ],
  guideVideo: 'Watch how to find it (video)',
  guideClipNote:
    'No sound. The same steps are written below. Recorded in a test environment: Steam’s own pages look a little different.',
}

export type GuideTexts = typeof en

const ru: GuideTexts = {
  itemConditions: itemConditions.ru,
  guideTitle: 'Где найти ссылку на обмен',
  guideSteps: [
    {
      title: 'Откройте настройки обмена',
      text: 'В Steam: Инвентарь → Предложения обмена → Кто может отправлять мне предложения обмена?',
    },
    { title: 'Скопируйте ссылку', text: 'Она внизу той страницы, в разделе «Сторонние сайты».' },
    { title: 'Вставьте её здесь', text: 'Мы покажем ваше имя и аватар — вы увидите, что это ваш аккаунт.' },
  ],
  guideVideo: 'Посмотреть, как её найти (видео)',
  guideClipNote:
    'Без звука. Те же шаги написаны ниже. Записано в тестовой среде: страницы самого Steam выглядят немного иначе.',
}

export const guideTexts: Record<Language, GuideTexts> = { en, ru }
