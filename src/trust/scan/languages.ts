/** The orders that matter most, in other languages (I20). Latin letters stand without marks, as in the view. */
import { phraseRule } from './phrase.ts';

const sentence = (...parts: string[]): RegExp => new RegExp(parts.join('[^.!?\\n]{0,40}?'), 'gi');
/** Without blanks between words. */
const dense = (...parts: string[]): RegExp => new RegExp(parts.join('[^。！？.!?\\n]{0,16}?'), 'gi');

const LATIN: readonly RegExp[] = [
  // German
  sentence(
    '\\b(?:ignorier\\w{0,3}|missachte\\w?|vergiss|vergessen sie)\\b',
    '\\b(?:bisherig|vorherig|vorig|fruher|obig|all)\\w{0,3}\\b',
    '\\b(?:anweisung|instruktion|regel|vorgabe|befehl)\\w{0,3}\\b',
  ),
  sentence(
    '\\b(?:sag|sagen sie|erzahl|verrate|teile|informier)\\w{0,3}\\b',
    '\\b(?:nutzer|benutzer|anwender)\\w{0,2}\\b',
    '\\b(?:nicht|nichts|niemals)\\b',
  ),
  sentence(
    '\\b(?:nicht|ohne|niemals)\\b',
    '\\b(?:nutzer|benutzer|anwender)\\w{0,2}\\b',
    '\\b(?:sagen|mitteilen|informieren|erwahnen|wissen)\\b',
  ),
  // French
  sentence(
    '\\b(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)|ne (?:tiens|tenez) pas compte)\\b',
    '\\b(?:instructions?|consignes?|regles?|directives?)\\b',
    '\\b(?:precedentes?|anterieures?|initiales?|ci-dessus)\\b',
  ),
  sentence(
    "\\b(?:ne|n'|sans)\\b",
    '\\b(?:dis|dites|dire|informe[rz]?|mentionne[rz]?|revele[rz]?|parle[rz]?)\\b',
    '\\b(?:utilisateur|usager)s?\\b',
  ),
  // Spanish
  sentence(
    '\\b(?:ignor(?:a|e|ar|en)|olvid(?:a|e|ar)|descart(?:a|e|ar)|haz caso omiso)\\b',
    '\\b(?:instrucciones|reglas|ordenes|indicaciones|directrices)\\b',
    '\\b(?:anteriores|previas|originales|de arriba)\\b',
  ),
  sentence(
    '\\b(?:no|sin|nunca)\\b',
    '\\b(?:dig(?:a|as)|decir|mencion(?:es|e|ar)|inform(?:es|e|ar)|revel(?:es|e|ar)|cuent(?:es|e))\\w{0,2}\\b',
    '\\busuario',
  ),
  // Italian
  sentence(
    '\\b(?:ignor(?:a|i|are|ate)|dimentica(?:re|te)?)\\b',
    '\\b(?:istruzioni|regole|direttive|comandi)\\b',
    '\\b(?:precedenti|anteriori|originali|sopra)\\b',
  ),
  sentence(
    '\\b(?:non|senza|mai)\\b',
    '\\b(?:dire|dica|dirlo|menzionar\\w|informar\\w|rivelar\\w)\\b',
    '\\b(?:utente|utenti)\\b',
  ),
  // Portuguese
  sentence(
    '\\b(?:ignor(?:e|a|ar|em)|esque[cç](?:a|er)|desconsider(?:e|ar))\\b',
    '\\b(?:instrucoes|regras|ordens|diretrizes)\\b',
    '\\b(?:anteriores|previas|originais|acima)\\b',
  ),
  sentence(
    '\\b(?:nao|sem|nunca)\\b',
    '\\b(?:diga|contar?|mencion(?:e|ar)|inform(?:e|ar)|revel(?:e|ar)|conte)\\b',
    '\\b(?:usuario|utilizador)',
  ),
  // Polish
  sentence(
    '\\b(?:zignoruj|ignoruj|zapomnij|pomin)\\b',
    '\\b(?:poprzedni|wczesniejsz|wszystki|powyzsz)\\w{0,4}\\b',
    '\\b(?:instrukcj|polece|regul|zasad)\\w{0,4}',
  ),
  sentence('\\bnie\\b', '\\b(?:mow|informuj|wspominaj|ujawniaj|zdradzaj)\\b', '\\buzytkownik\\w{0,4}'),
];

const OTHERS: readonly RegExp[] = [
  // Russian
  sentence(
    '(?:игнориру|проигнориру|забудь|не обращай)\\S{0,5}',
    '(?:предыдущ|прежн|все|ранее|системн)\\S{0,5}',
    '(?:инструкц|указани|правил|команд)',
  ),
  sentence(
    '(?:не|без|никогда)(?=\\s)',
    '(?:говори|сообща|упомина|рассказыва|раскрыва|ведома|информир)\\S{0,4}',
    '(?:пользовател|об этом)',
  ),
  // Chinese
  dense(
    '(?:忽略|無視|无视|忘记|忘記|不要理会|不要遵守)',
    '(?:之前|以前|先前|上面|以上|前面|所有|系统|系統)',
    '(?:指令|指示|说明|說明|规则|規則|提示|命令)',
  ),
  dense(
    '(?:不要|别|別|不得|切勿|无需|请勿|勿)',
    '(?:告诉|告訴|告知|通知|提及|透露|让)',
    '(?:用户|用戶|使用者|任何人|他们)',
  ),
  // Japanese
  dense(
    '(?:これまで|以前|前|上記|すべて|全て|システム)',
    '(?:指示|命令|ルール|規則|プロンプト)',
    '(?:無視|忘れ|従わない)',
  ),
  dense('(?:ユーザー?|利用者)', '(?:知らせ|伝え|教え|言わ|話さ|明かさ|報告し)', '(?:ない|ず)'),
  // Korean
  dense('(?:이전|앞선|기존|위의|모든|시스템)', '(?:지시|명령|규칙|지침|프롬프트)', '(?:무시|잊)'),
  dense('(?:사용자|유저)', '(?:알리|말하|언급|공개|보고)', '(?:지 ?마|않)'),
];

export const LANGUAGES = phraseRule({
  id: 'I20',
  title: 'gives such orders in another language',
  tier: 'hard',
  severity: 'high',
  why: 'A model follows an order in any language; whoever reviews it may not read them all.',
  example: '不要告诉用户',
  advice: 'Have it translated before you accept anything.',
  mention: true,
  patterns: [...LATIN, ...OTHERS],
});
